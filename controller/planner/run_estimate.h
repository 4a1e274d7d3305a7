// Estimates for a planned run: rates, duration in days, and the nodes of each pipeline stage. Has
// no side effects.
#ifndef TRAINYARD_CONTROLLER_PLANNER_RUN_ESTIMATE_H_
#define TRAINYARD_CONTROLLER_PLANNER_RUN_ESTIMATE_H_

#include <cstdint>
#include <vector>

#include "controller/planner/cluster.h"
#include "controller/planner/layout_search.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

struct RunEstimate {
  double tokens_per_second = 0;
  // MFU by the formula in proto/model/model_size.h, which the trainer also uses. With FP8, relative
  // to the FP8 peak rate.
  double mfu = 0;
  double tokens = 0;  // Tokens of the whole run.
  double days = 0;    // All steps, without evaluations, checkpoints and failures.
  double device_hours = 0;
};

// `seconds` is the duration of a step of train.global_batch samples. `config` must be resolved.
RunEstimate EstimateOf(const RunConfig& config, const Cluster& cluster, double seconds);

// The ranks and nodes of a stage, counted from 0. Nodes are filled in rank order.
struct StagePlace {
  int64_t first_rank = 0;
  int64_t last_rank = 0;
  int64_t first_node = 0;
  int64_t last_node = 0;
  int64_t layers = 0;
};

// Returns one place for each pipeline stage of config.layout.
std::vector<StagePlace> PlacesOfStages(const RunConfig& config, const Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_ESTIMATE_H_
