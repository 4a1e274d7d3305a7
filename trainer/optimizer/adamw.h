// AdamW over the parameter groups of a store.
#ifndef TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_
#define TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/model/parameter_store.h"

namespace trainyard::trainer {

// One thread at a time. The store must outlive this.
class AdamW {
 public:
  AdamW(const OptimizerConfig& config, ParameterStore& store);

  // The values that a step needs from the host, in the form of kernels/step_values.h: an fp64 CPU
  // tensor. step: number of the update, from 1 (bias correction).
  torch::Tensor HostStepValues(int64_t step, double learning_rate) const;

  // Measures this rank's part of the gradients of one group, once they are complete.
  void MeasureGroup(int64_t group);
  // Squared norms of the groups, fp64: where ranks own different parts, to be summed over them.
  torch::Tensor& squared_norms() { return squared_norms_; }

  // Norm of all gradients, with all groups measured: sets the values of `step_values` that follow
  // from it, kFinite too, with kLoss already there.
  void FinishGradientNorm(torch::Tensor& step_values);

  // Updates this rank's part of a group, unless kFinite is 0. step_values: on the store's device.
  void UpdateGroup(int64_t group, const torch::Tensor& step_values);

  // First and second moments: state buffers of the store, in the types of the settings.
  torch::Tensor& first_moment() { return first_moment_; }
  torch::Tensor& second_moment() { return second_moment_; }

 private:
  void Update(int64_t group, const ElementRange& range, double weight_decay,
              const torch::Tensor& step_values);

  OptimizerConfig config_;
  ParameterStore& store_;
  torch::Tensor first_moment_;
  torch::Tensor second_moment_;
  torch::Tensor squared_norms_;  // fp64, by group.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_
