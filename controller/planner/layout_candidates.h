// Enumerates the layouts of a run on a cluster in groups. The layouts of a group differ only in
// sharding and recomputation.
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

// Returns the divisors of `whole` in ascending order.
std::vector<int64_t> DivisorsOf(int64_t whole);

enum class Walk { kContinue, kSkipLargerBatches, kEnd };
// Called once per group, with the group's layout that has ZeRO 0 and no recomputation. Later calls
// may have the same layout with larger micro-batches.
using VisitGroup = std::function<Walk(const RunConfig& config)>;
// Called with a reason for excluding layouts, and the number of excluded layouts.
using VisitRefused = std::function<Walk(const std::string& reason, int64_t count)>;

// Visits all groups. `config` must be resolved. With experts, ep and etp are varied as well, and
// sequence_parallel is on.
void VisitGroups(const RunConfig& config, const Cluster& cluster, const VisitGroup& visit,
                 const VisitRefused& refused);

// Returns the layouts of the group of `config`, which differ in sharding and recomputation. With
// experts, only optimizer states are sharded, and they are sharded whenever possible. This
// restriction limits the number of layouts.
std::vector<LayoutConfig> MembersOfGroup(const RunConfig& config);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LAYOUT_CANDIDATES_H_
