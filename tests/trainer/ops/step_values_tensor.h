// Creates the StepValues of an optimizer step, for tests of code that reads them.
#ifndef TRAINYARD_TESTS_TRAINER_OPS_STEP_VALUES_TENSOR_H_
#define TRAINYARD_TESTS_TRAINER_OPS_STEP_VALUES_TENSOR_H_

#include <torch/types.h>

#include <cmath>
#include <cstdint>

#include "trainer/kernels/optimizer/step_values.h"

namespace trainyard::trainer {

inline double ValueOf(const torch::Tensor& values, StepValue which) {
  return values[static_cast<int64_t>(which)].item<double>();
}

inline void SetValue(torch::Tensor& values, StepValue which, double value) {
  values[static_cast<int64_t>(which)] = value;
}

// Returns the values of a step with finite, unclipped gradients. The betas are AdamW's usual 0.9
// and 0.95.
inline torch::Tensor StepValuesOf(int64_t step, double learning_rate) {
  torch::Tensor values = torch::zeros({kStepValues}, torch::kFloat64);
  SetValue(values, StepValue::kStep, static_cast<double>(step));
  SetValue(values, StepValue::kLearningRate, learning_rate);
  SetValue(values, StepValue::kStepSize, learning_rate / (1 - std::pow(0.9, step)));
  SetValue(values, StepValue::kRootCorrection, std::sqrt(1 - std::pow(0.95, step)));
  SetValue(values, StepValue::kGradientScale, 1);
  SetValue(values, StepValue::kFinite, 1);
  return values;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_OPS_STEP_VALUES_TENSOR_H_
