// Layouts of a run on a cluster, in groups whose members differ in sharding and recomputation only.
#ifndef TRAINYARD_CONTROLLER_PLANNER_LAYOUT_CANDIDATES_H_
#define TRAINYARD_CONTROLLER_PLANNER_LAYOUT_CANDIDATES_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "controller/planner/cluster.h"
#include "controller/planner/described_model.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Whole numbers that divide `whole`, the smallest first.
std::vector<int64_t> DivisorsOf(int64_t whole);

enum class Walk { kContinue, kSkipLargerBatches, kEnd };
// Called with a layout that keeps the rules, with ZeRO 0 and no recomputation. Larger micro-batches
// of the same layout come later.
using VisitGroup = std::function<Walk(const RunConfig& config)>;
// Called with the reason why layouts are not considered, and their number.
using VisitRefused = std::function<Walk(const std::string& reason, int64_t count)>;

// `config` is resolved. With experts, also by ep.
void VisitGroups(const RunConfig& config, const DescribedParts& parts, const Cluster& cluster,
                 const VisitGroup& visit, const VisitRefused& refused);

// Members of the group of `config`: by kind of sharding and recomputation. With experts, optimizer
// states are sharded where they can be, and nothing else is: there are many layouts as it is.
std::vector<LayoutConfig> MembersOfGroup(const LayoutConfig& layout, const DescribedParts& parts);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LAYOUT_CANDIDATES_H_
