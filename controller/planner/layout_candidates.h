// Layouts of a run on a cluster, in groups whose members differ only in sharding and recomputation.
#ifndef TRAINYARD_CONTROLLER_PLANNER_LAYOUT_CANDIDATES_H_
#define TRAINYARD_CONTROLLER_PLANNER_LAYOUT_CANDIDATES_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "controller/planner/cluster.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Divisors of `whole`, in ascending order.
std::vector<int64_t> DivisorsOf(int64_t whole);

enum class Walk { kContinue, kSkipLargerBatches, kEnd };
// Called with a valid layout with ZeRO 0 and no recomputation. Larger micro-batches of the same
// layout follow later.
using VisitGroup = std::function<Walk(const RunConfig& config)>;
// Called with the reason why layouts are excluded, and their number.
using VisitRefused = std::function<Walk(const std::string& reason, int64_t count)>;

// Visits all groups. `config` must be resolved. With experts, ep is varied too.
void VisitGroups(const RunConfig& config, const Cluster& cluster, const VisitGroup& visit,
                 const VisitRefused& refused);

// Members of the group of `config`, by kind of sharding and recomputation. With experts, only the
// optimizer states are sharded, where possible, to limit the number of layouts.
std::vector<LayoutConfig> MembersOfGroup(const RunConfig& config);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LAYOUT_CANDIDATES_H_
