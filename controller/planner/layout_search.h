// Finds the best layout of a run on a cluster. Pure functions, one thread.
//
// The search tries every division of the cluster's devices into tp, cp, pp and dp with every
// micro-batch, number of chunks, schedule, kind of sharding and kind of recomputation allowed by
// the rules of proto/rules/run_rules.h. Prime factors other than 2 are allowed. Among the
// layouts that fit into memory according to proto/memory/memory_model.h, with its margin, the
// fastest is chosen.
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
  MemoryPrediction memory;   // Memory of the rank that needs most.
  int64_t memory_stage = 0;  // Pipeline stage of that rank.
};

struct LayoutSearch {
  std::optional<PlannedLayout> best;
  // Layouts that need less memory than every faster one, fastest first, starting with the best.
  std::vector<PlannedLayout> pareto;
  int64_t tried = 0;
  // Number of layouts not chosen, by reason.
  std::map<std::string, int64_t> lost;
  // The layout with the lowest memory among those that do not fit. nullopt if no layout was
  // excluded because of its memory.
  std::optional<PlannedLayout> leanest;
  // True if the search was abandoned without a best layout, because there are too many layouts.
  bool is_too_large = false;
};

// `config` must be resolved. Its layout is ignored except for sequence_parallel, cp_comm_type and
// an etp of 1. The device must support the precision.
LayoutSearch SearchLayouts(const RunConfig& config, const Cluster& cluster);

// The layout in `config` on the cluster, without a search or a check of rules.
PlannedLayout PlanGivenLayout(const RunConfig& config, const Cluster& cluster);

struct LargerCluster {
  std::optional<int64_t> fewest_nodes;  // Above the cluster's; some layout fits on them.
  int64_t looked_at = 0;                // Largest number of nodes tried.
};

// Tries up to `most_nodes`, or fewer if there are too many layouts.
LargerCluster FewestNodes(const RunConfig& config, const Cluster& cluster, int64_t most_nodes);

// Memory of the rank that needs most. Sets `stage` to its pipeline stage.
MemoryPrediction PeakMemory(const RunConfig& config, int64_t& stage);

bool FitsInto(const MemoryPrediction& memory, const DeviceSpec& device);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LAYOUT_SEARCH_H_
