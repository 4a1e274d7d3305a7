// Estimates for a planned run: rates, days, and the place of each pipeline stage. Pure functions.
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
  // By the formula of proto/model/model_size.h, as reported by the trainer. With FP8, relative
  // to the FP8 peak.
  double mfu = 0;
  double tokens = 0;  // Tokens of the whole run.
  double days = 0;    // Time of the steps, without evaluations, checkpoints and failures.
  double device_hours = 0;
};

// `seconds` is the duration of a step of train.global_batch samples. `config` must be resolved.
RunEstimate EstimateOf(const RunConfig& config, const Cluster& cluster, double seconds);

// Ranks and nodes of a stage, counted from 0. Nodes are filled in rank order.
struct StagePlace {
  int64_t first_rank = 0;
  int64_t last_rank = 0;
  int64_t first_node = 0;
  int64_t last_node = 0;
  int64_t layers = 0;
};

// One place per pipeline stage of config.layout.
std::vector<StagePlace> PlacesOfStages(const RunConfig& config, const Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_RUN_ESTIMATE_H_
