// The best layout of a run on a cluster: pure functions, one thread.
//
// Every way to divide the cluster's devices among tp, cp, pp and dp is tried with every
// micro-batch, number of chunks, schedule, kind of sharding and of recomputation that the rules of
// proto/contract/run_rules.h allow; prime factors need not be 2. Of those that fit into memory, by
// proto/contract/memory_model.h with its margin, the fastest is chosen.
#ifndef TRAINYARD_CONTROLLER_PLANNER_LAYOUT_SEARCH_H_
#define TRAINYARD_CONTROLLER_PLANNER_LAYOUT_SEARCH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/planner/cluster.h"
#include "controller/planner/step_time.h"
#include "proto/contract/memory_model.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

struct PlannedLayout {
  LayoutConfig layout;
  StepTime step;
  MemoryPrediction memory;   // Of the rank that needs most.
  int64_t memory_stage = 0;  // Its pipeline stage.
};

struct LayoutSearch {
  std::optional<PlannedLayout> best;
  // Layouts that need less memory than every faster one, the fastest first; begins with the best.
  std::vector<PlannedLayout> pareto;
  int64_t tried = 0;
  // Layouts that were not chosen, by the reason.
  std::map<std::string, int64_t> lost;
  // Of the layouts that do not fit, the one that needs least; there is none when all break rules.
  std::optional<PlannedLayout> leanest;
  // True when the search was abandoned, without a best layout: there are millions of layouts.
  bool is_too_large = false;
};

// `config` is resolved; its layout counts only for sequence_parallel and cp_comm_type. The device
// has the precision's arithmetic. `parts`: of a description; a job has none.
LayoutSearch SearchLayouts(const RunConfig& config, const Cluster& cluster,
                           const DescribedParts& parts = {});

// The layout that `config` has, on the cluster, without a search or a check of rules.
PlannedLayout PlanGivenLayout(const RunConfig& config, const Cluster& cluster,
                              const DescribedParts& parts = {});

struct LargerCluster {
  std::optional<int64_t> fewest_nodes;  // More than the cluster has, on which some layout fits.
  int64_t looked_at = 0;                // The most nodes that were looked at.
};

// Looks at up to `most_nodes`, and at fewer where these have very many layouts.
LargerCluster FewestNodes(const RunConfig& config, const Cluster& cluster, int64_t most_nodes,
                          const DescribedParts& parts = {});

// Of the rank that needs most; its stage goes to `stage`.
MemoryPrediction PeakMemory(const RunConfig& config, int64_t& stage,
                            const DescribedParts& parts = {});

bool FitsInto(const MemoryPrediction& memory, const DeviceSpec& device);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_LAYOUT_SEARCH_H_
