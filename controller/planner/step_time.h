// Duration of one optimizer step on a cluster, by part. Pure functions of settings, cluster and
// trainer. The parts are those in the trainer's telemetry.
#ifndef TRAINYARD_CONTROLLER_PLANNER_STEP_TIME_H_
#define TRAINYARD_CONTROLLER_PLANNER_STEP_TIME_H_

#include <cstdint>
#include <vector>

#include "controller/planner/block_work.h"
#include "controller/planner/cluster.h"
#include "controller/planner/pass_seconds.h"
#include "controller/planner/step_scale.h"
#include "controller/planner/trainer_profile.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Times of the pipeline stage with the most work. Waits are the parts of transfers that the stage's
// own work does not hide.
struct StepTime {
  int64_t stage = 0;
  double compute = 0;
  double optimizer = 0;
  double tensor_wait = 0;
  double context_wait = 0;
  double expert_wait = 0;    // For rows sent to experts and back.
  double pipeline_wait = 0;  // The bubble, and transfers of activations.
  double data_wait = 0;      // For gradient sums, and weights updated by other ranks.
  double world_wait = 0;     // For the slowest of many nodes.
  double input_wait = 0;     // For samples, if storage is slower than the step.

  double Total() const {
    return compute + optimizer + tensor_wait + context_wait + expert_wait + pipeline_wait +
           data_wait + world_wait + input_wait;
  }
};

// Multiplies each part by its scale.
StepTime Scaled(const StepScale& scale, StepTime step);

// The part of a model on a pipeline stage. Adjacent stages with the same load share an entry.
struct StageLoad {
  int64_t stage = 0;  // First of these stages.
  double stages = 1;
  double layers = 0;
  double expert_layers = 0;  // Layers with experts, a part of `layers`.
  double recomputed_layers = 0;
  bool has_embedding = false;
  bool has_head = false;

  bool IsLike(const StageLoad& other) const;
};

// Divides layers as the trainer does (proto/layout/pipeline_place.h), or, without balances_head,
// as evenly as possible, like Megatron-LM.
std::vector<StageLoad> LoadsOfStages(const RunConfig& config, bool balances_head);

// The schedule-independent part of a run on a cluster, reused during a search.
struct PlannedPass {
  BlockWork work;
  PassSeconds seconds;
  // Like `work` and `seconds`, for blocks with experts, if there are any.
  BlockWork expert_work;
  PassSeconds expert_seconds;
  // Number of matrix weights of a block on a rank; with experts, expert_parameters are those of the
  // experts.
  double block_parameters = 0;
  double expert_block_parameters = 0;
  double expert_parameters = 0;
};

PlannedPass PlanPass(const RunConfig& config, const Cluster& cluster,
                     const TrainerProfile& profile);

// `config` must be resolved, keep the rules of proto/rules/run_rules.h and have zero_size 0.
StepTime SecondsOfStep(const RunConfig& config, const PlannedPass& pass,
                       const std::vector<StageLoad>& loads, const Cluster& cluster,
                       const TrainerProfile& profile);

// Predicts a step of trainyard-trainer.
StepTime PredictStep(const RunConfig& config, const Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_STEP_TIME_H_
