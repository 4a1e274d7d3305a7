// AdamW over the parameter groups of a store.
#ifndef TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_
#define TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "proto/contract/optimizer_config.h"
#include "trainer/kernels/step_values.h"
#include "trainer/model/parameter_store.h"

namespace trainyard::trainer {

// Not thread-safe. The store must outlive this.
class AdamW {
 public:
  AdamW(const OptimizerConfig& config, ParameterStore& store);

  // Host-computed values of a step, in the format of kernels/step_values.h: an fp64 CPU tensor.
  // step: number of the update, from 1 (bias correction).
  torch::Tensor HostStepValues(int64_t step, double learning_rate) const;

  // Measures the gradients of a group that this rank owns and counts. Call it once they are
  // complete.
  void MeasureGroup(int64_t group);
  // Sets `which` of `step_values`, such as kSquaredNorm, to this rank's sum of squares, or to 0 if
  // another rank counts the same gradients. Call it after measuring all groups.
  void SumSquares(bool counts, StepValue which, torch::Tensor& step_values) const;

  // A separately measured part of a group: its decaying or its non-decaying parameters.
  struct MeasuredPart {
    int64_t group = 0;
    bool decays = false;
  };
  const std::vector<MeasuredPart>& measured_parts() const { return measured_parts_; }
  // Squared norms of measured_parts(), fp64 on the store's device.
  const torch::Tensor& squared_norms() const { return all_squared_norms_; }

  // Sets kGradientNorm, kGradientScale and kFinite in `step_values`. Call it after summing kLoss
  // and kSquaredNorm over all ranks.
  void FinishGradientNorm(torch::Tensor& step_values) const;

  // Updates this rank's part of a group unless kFinite is 0. step_values: on the store's device.
  void UpdateGroup(int64_t group, const torch::Tensor& step_values);

  // First and second moments: state buffers of the store, in the configured types.
  torch::Tensor& first_moment() { return first_moment_; }
  torch::Tensor& second_moment() { return second_moment_; }

 private:
  int64_t PlaceOf(int64_t group) const;
  void Update(int64_t group, const ElementRange& range, double weight_decay,
              const torch::Tensor& step_values);

  OptimizerConfig config_;
  ParameterStore& store_;
  torch::Tensor first_moment_;
  torch::Tensor second_moment_;
  std::vector<std::vector<ElementRange>> measured_;  // By group: its owned, counted ranges.
  std::vector<MeasuredPart> measured_parts_;         // One per range in measured_, in order.
  std::vector<torch::Tensor> squared_norms_;         // By group: fp64, one per range.
  torch::Tensor all_squared_norms_;                  // The memory of squared_norms_.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_
