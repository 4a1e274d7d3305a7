// Predicts the duration of one optimizer step on a cluster, divided into the parts that the
// trainer's telemetry reports. Results depend only on settings, cluster and trainer. Has no side
// effects.
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

// Times of the pipeline stage with the most work. A wait is the part of a transfer's time that does
// not overlap the stage's own work.
struct StepTime {
  int64_t stage = 0;
  double compute = 0;
  double optimizer = 0;
  double tensor_wait = 0;
  double context_wait = 0;
  double expert_wait = 0;    // Transfer of rows to experts and back.
  double pipeline_wait = 0;  // The bubble, and transfers of activations.
  double data_wait = 0;      // Gradient sums, and gathering of weights that other ranks updated.
  double world_wait = 0;     // Wait for the slowest of many nodes.
  double input_wait = 0;     // Wait for samples if storage is slower than a step.

  double Total() const {
    return compute + optimizer + tensor_wait + context_wait + expert_wait + pipeline_wait +
           data_wait + world_wait + input_wait;
  }
};

// Multiplies each part by its scale.
StepTime Scaled(const StepScale& scale, StepTime step);

// The part of the model that one pipeline stage computes. Adjacent stages with the same load share
// an entry.
struct StageLoad {
  int64_t stage = 0;  // The first stage of this entry.
  double stages = 1;
  double layers = 0;
  double expert_layers = 0;  // Layers with experts; included in `layers`.
  double recomputed_layers = 0;
  bool has_embedding = false;
  bool has_head = false;

  bool IsLike(const StageLoad& other) const;
};

// If `balances_head`, divides the layers as the trainer does (proto/layout/pipeline_place.h).
// Otherwise, divides the layers as evenly as possible, as Megatron-LM does.
std::vector<StageLoad> LoadsOfStages(const RunConfig& config, bool balances_head);

// The part of a plan that does not depend on the pipeline schedule. A search computes it once and
// reuses it.
struct PlannedPass {
  BlockWork work;
  PassSeconds seconds;
  // Like `work` and `seconds`, but for a block with experts. Used only if the model has such
  // blocks.
  BlockWork expert_work;
  PassSeconds expert_seconds;
  // The number of matrix weights of one block on one rank. Weights of experts are counted
  // separately in expert_parameters.
  double block_parameters = 0;
  double expert_block_parameters = 0;
  double expert_parameters = 0;
};

PlannedPass PlanPass(const RunConfig& config, const Cluster& cluster,
                     const TrainerProfile& profile);

// `config` must be resolved, must satisfy the rules in proto/rules/run_rules.h, and must have
// zero_size 0.
StepTime SecondsOfStep(const RunConfig& config, const PlannedPass& pass,
                       const std::vector<StageLoad>& loads, const Cluster& cluster,
                       const TrainerProfile& profile);

// Predicts a step of trainyard-trainer.
StepTime PredictStep(const RunConfig& config, const Cluster& cluster);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_STEP_TIME_H_
