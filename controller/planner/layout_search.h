// Finds the best layout of a run on a cluster. Has no side effects and uses one thread.
//
// The search tries every division of the cluster's devices into tp, cp, pp and dp, including
// factors that are not powers of 2. The search combines each division with every micro-batch,
// number of chunks, schedule, kind of sharding and kind of recomputation that the rules in
// proto/rules allow. Layouts that only the trainer would refuse are excluded as well. A layout fits
// if its memory, as predicted by proto/memory/memory_model.h, leaves a margin. The fastest layout
// that fits is chosen.
#ifndef TRAINYARD_CONTROLLER_PLANNER_LAYOUT_SEARCH_H_
#define TRAINYARD_CONTROLLER_PLANNER_LAYOUT_SEARCH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/planner/cluster.h"
#include "controller/planner/step_time.h"
#include "proto/contract/run_config.h"
#include "proto/memory/memory_model.h"

namespace trainyard::planner {

struct PlannedLayout {
  LayoutConfig layout;
  StepTime step;
  MemoryPrediction memory;   // Memory of the rank that needs the most.
  int64_t memory_stage = 0;  // Pipeline stage of that rank.
};

struct LayoutSearch {
  std::optional<PlannedLayout> best;
  // The best layout and slower layouts with lower memory use, fastest first. Each layout needs less
  // memory than all layouts before it.
  std::vector<PlannedLayout> pareto;
  int64_t tried = 0;
  // The number of layouts that were not chosen, by reason.
  std::map<std::string, int64_t> lost;
  // The layout that needs the least memory among the layouts that do not fit. nullopt if no layout
  // was excluded because of its memory.
  std::optional<PlannedLayout> leanest;
  // True if the search ended without a best layout because there are too many layouts.
  bool is_too_large = false;
};

// `config` must be resolved. The layout in `config` is ignored, except for cp_comm_type, an etp of
// 1 and, without experts, sequence_parallel. The device must support the precision.
LayoutSearch SearchLayouts(const RunConfig& config, const Cluster& cluster);

// Plans the layout in `config` on the cluster, without searching and without checking rules.
PlannedLayout PlanGivenLayout(const RunConfig& config, const Cluster& cluster);

struct LargerCluster {
  // A number of nodes, larger than the cluster's, on which some layout fits.
  std::optional<int64_t> fewest_nodes;
  int64_t looked_at = 0;  // The largest number of nodes that was tried.
};

// Tries clusters with more nodes, up to `most_nodes`. Stops earlier if there are too many layouts.
LargerCluster FewestNodes(const RunConfig& config, const Cluster& cluster, int64_t most_nodes);

// Returns the memory of the rank that needs the most. Sets `stage` to that rank's pipeline stage.
MemoryPrediction PeakMemory(const RunConfig& config, int64_t& stage);

bool FitsInto(const MemoryPrediction& memory, const DeviceSpec& device);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LAYOUT_SEARCH_H_
