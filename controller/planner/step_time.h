// Seconds of one optimizer step on a cluster, by part: pure functions of settings, cluster and
// trainer. The parts are those of the trainer's telemetry.
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

// Of the pipeline stage with the most work. Waits are those that its own work does not hide.
struct StepTime {
  int64_t stage = 0;
  double compute = 0;
  double optimizer = 0;
  double tensor_wait = 0;
  double context_wait = 0;
  double expert_wait = 0;    // Rows on their way to experts and back.
  double pipeline_wait = 0;  // The bubble, and activations on their way.
  double data_wait = 0;      // Sums of gradients, and weights that other ranks have updated.
  double world_wait = 0;     // For the slowest of many nodes.
  double input_wait = 0;     // For samples, where storage is slower than the step.

  double Total() const {
    return compute + optimizer + tensor_wait + context_wait + expert_wait + pipeline_wait +
           data_wait + world_wait + input_wait;
  }
};

// With each part corrected.
StepTime Scaled(const StepScale& scale, StepTime step);

// The part of a model that a pipeline stage works on; stages next to each other with the same load
// are one entry.
struct StageLoad {
  int64_t stage = 0;  // The first of them.
  double stages = 1;
  double layers = 0;
  double expert_layers = 0;  // Of the layers, those with experts.
  double recomputed_layers = 0;
  bool has_embedding = false;
  bool has_head = false;

  bool IsLike(const StageLoad& other) const;
};

// By the trainer's own cut (proto/contract/pipeline_place.h), or, without balances_head, layers cut
// as evenly as can be, as Megatron-LM does.
std::vector<StageLoad> LoadsOfStages(const RunConfig& config, bool balances_head,
                                     const DescribedParts& parts = {});

// A run on a cluster with all that does not depend on its schedule, as a search reuses it.
struct PlannedPass {
  BlockWork work;
  PassSeconds seconds;
  // The same of blocks with experts, where there are any.
  BlockWork expert_work;
  PassSeconds expert_seconds;
  // Weights of a block's matrices on a rank; with experts, those of the experts are the last ones.
  double block_parameters = 0;
  double expert_block_parameters = 0;
  double expert_parameters = 0;
};

PlannedPass PlanPass(const RunConfig& config, const Cluster& cluster, const TrainerProfile& profile,
                     const DescribedParts& parts = {});

// `config` is resolved, keeps the rules of proto/contract/run_rules.h and has zero_size 0.
StepTime SecondsOfStep(const RunConfig& config, const PlannedPass& pass,
                       const std::vector<StageLoad>& loads, const Cluster& cluster,
                       const TrainerProfile& profile);

// The same for trainyard-trainer.
StepTime PredictStep(const RunConfig& config, const Cluster& cluster,
                     const DescribedParts& parts = {});

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_STEP_TIME_H_
