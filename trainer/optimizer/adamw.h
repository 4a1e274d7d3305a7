// AdamW over the parameter groups of a store.
#ifndef TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_
#define TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "proto/contract/optimizer_config.h"
#include "trainer/kernels/optimizer/step_values.h"
#include "trainer/model/parameters/parameter_store.h"

namespace trainyard::trainer {

// Not thread-safe. The store must outlive this object.
class AdamW {
 public:
  AdamW(const OptimizerConfig& config, ParameterStore& store);

  // Returns the step values that the host sets, as an fp64 CPU tensor in the format of
  // kernels/step_values.h. step: the number of the update, from 1, for the bias correction.
  torch::Tensor HostStepValues(int64_t step, double learning_rate) const;

  // Measures the norms of those gradients of a group that this rank both owns and counts
  // (KeptParts::counts). Must be called after the gradients are complete.
  void MeasureGroup(int64_t group);
  // Sets element `which` of `step_values`, such as kSquaredNorm, to this rank's sum of squares.
  // Must be called after all groups have been measured.
  void SumSquares(StepValue which, torch::Tensor& step_values) const;

  // A part of a group that is measured separately: either its parameters with weight decay or those
  // without.
  struct MeasuredPart {
    int64_t group = 0;
    bool decays = false;
  };
  const std::vector<MeasuredPart>& measured_parts() const { return measured_parts_; }
  // The squared norm of each element of measured_parts(), in fp64, on the store's device.
  const torch::Tensor& squared_norms() const { return all_squared_norms_; }

  // Sets kGradientNorm, kGradientScale and kFinite in `step_values`. Must be called after kLoss and
  // kSquaredNorm have been summed over all ranks.
  void FinishGradientNorm(torch::Tensor& step_values) const;

  // Updates this rank's part of a group. Does nothing if kFinite is 0. step_values: on the store's
  // device.
  void UpdateGroup(int64_t group, const torch::Tensor& step_values);

  // The first and second moments, in the configured types. Both are optimizer state buffers of the
  // store.
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
  std::vector<std::vector<ElementRange>> measured_;  // By group: ranges both owned and counted.
  std::vector<MeasuredPart> measured_parts_;         // One per range in measured_, same order.
  std::vector<torch::Tensor> squared_norms_;         // By group: fp64, one per range.
  torch::Tensor all_squared_norms_;                  // One tensor that backs all of squared_norms_.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPTIMIZER_ADAMW_H_
