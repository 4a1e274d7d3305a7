#include "trainer/ops/optimizer/adamw.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trainer/kernels/optimizer/step_values.h"
#include "trainer/kernels/optimizer/stochastic_rounding.h"
#include "trainer/ops/gpu.h"
#include "trainer/ops/optimizer/master_weights.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The number of elements that are updated at once. The number is small, so that the buffers stay in
// the CPU cache through all passes of an update and fp32 sums lose little precision.
constexpr int64_t kPieceElements = int64_t{1} << 15;

double ValueOf(const Tensor& step_values, StepValue which) {
  return step_values.data_ptr<double>()[static_cast<int64_t>(which)];
}

// Rounds `moment` (fp32) stochastically to `out` (bf16, on a CPU). Does nothing if both are the
// same tensor. `shift` selects the half of the random bits.
void RoundMoment(const Tensor& moment, int64_t step, int64_t first_element, int shift,
                 Tensor& out) {
  if (moment.is_same(out)) return;
  const auto* bits = reinterpret_cast<const uint32_t*>(moment.data_ptr<float>());
  auto* rounded = reinterpret_cast<uint16_t*>(out.data_ptr<at::BFloat16>());
  for (int64_t i = 0; i < moment.numel(); ++i) {
    const uint32_t random = kernels::RoundingBits(step, first_element + i) >> shift;
    rounded[i] = kernels::RoundToBFloat16(bits[i], random);
  }
}

AdamWState PieceOf(const AdamWState& state, int64_t first, int64_t length) {
  const auto piece = [&](const Tensor& tensor) {
    return tensor.defined() ? tensor.narrow(0, first, length) : tensor;
  };
  return {piece(state.values),        piece(state.low_bits),     piece(state.masters),
          piece(state.gradients),     piece(state.first_moment), piece(state.second_moment),
          state.first_element + first};
}

Tensor MasterWeights(const AdamWState& state) {
  if (state.masters.defined()) return state.masters;
  return state.low_bits.defined() ? JoinMasterWeights(state.values, state.low_bits) : state.values;
}

void UpdatePiece(AdamWState state, const AdamWFactors& factors, const Tensor& step_values) {
  Tensor weight = MasterWeights(state);
  Tensor mean = state.first_moment.to(ComputeType(state.first_moment.scalar_type()));
  Tensor square = state.second_moment.to(ComputeType(state.second_moment.scalar_type()));
  const double scale = ValueOf(step_values, StepValue::kGradientScale);
  const Tensor gradient = scale == 1 ? state.gradients : state.gradients * scale;

  mean.lerp_(gradient, 1 - factors.beta1);
  square.lerp_(gradient * gradient, 1 - factors.beta2);
  Tensor denominator =
      square.sqrt().div_(ValueOf(step_values, StepValue::kRootCorrection)).add_(factors.epsilon);
  // If epsilon is 0 and all gradients so far were 0, numerator and denominator are 0. A denominator
  // of 1 makes the update 0 instead of NaN.
  if (factors.epsilon == 0) denominator.masked_fill_(denominator == 0, 1);
  if (factors.weight_decay != 0) {
    weight.mul_(1 - ValueOf(step_values, StepValue::kLearningRate) * factors.weight_decay);
  }
  weight.addcdiv_(mean, denominator, -ValueOf(step_values, StepValue::kStepSize));

  if (state.low_bits.defined()) SplitMasterWeights(weight, state.values, state.low_bits);
  if (state.masters.defined()) state.values.copy_(weight);
  const auto step = static_cast<int64_t>(ValueOf(step_values, StepValue::kStep));
  RoundMoment(mean, step, state.first_element, 0, state.first_moment);
  RoundMoment(square, step, state.first_element, 16, state.second_moment);
}

}  // namespace

void AdamWUpdate(const AdamWState& state, const AdamWFactors& factors, const Tensor& step_values) {
  if (gpu::HasKernels(state.values)) return gpu::AdamWUpdate(state, factors, step_values);
  TORCH_CHECK(!state.values.is_cuda(), "AdamW supports tensors of this type only on CPUs");
  if (ValueOf(step_values, StepValue::kFinite) == 0) return;
  const int64_t count = state.values.numel();
  for (int64_t first = 0; first < count; first += kPieceElements) {
    UpdatePiece(PieceOf(state, first, std::min(kPieceElements, count - first)), factors,
                step_values);
  }
}

void SquaredSum(const Tensor& values, Tensor& sum) {
  if (gpu::HasKernels(values)) return gpu::SquaredSum(values, sum);
  double total = 0;
  for (int64_t first = 0; first < values.numel(); first += kPieceElements) {
    const int64_t length = std::min(kPieceElements, values.numel() - first);
    const double norm = at::linalg_vector_norm(values.narrow(0, first, length), 2, c10::nullopt,
                                               false, torch::kFloat64)
                            .item<double>();
    total += norm * norm;
  }
  sum.fill_(total);
}

void FinishNorm(const Tensor& squared_norms, double max_norm, Tensor& step_values) {
  if (step_values.is_cuda()) return gpu::FinishNorm(squared_norms, max_norm, step_values);
  auto* values = step_values.data_ptr<double>();
  const auto at = [&](StepValue which) -> double& { return values[static_cast<int64_t>(which)]; };
  const double* parts = squared_norms.data_ptr<double>();
  double sum = 0;
  for (int64_t i = 0; i < squared_norms.numel(); ++i) sum += parts[i];
  const double norm = std::sqrt(sum);
  at(StepValue::kGradientNorm) = norm;
  at(StepValue::kGradientScale) = max_norm > 0 && norm > max_norm ? max_norm / norm : 1.0;
  at(StepValue::kFinite) =
      IsUsable(norm, at(StepValue::kGradientScale), at(StepValue::kLoss)) ? 1 : 0;
}

}  // namespace trainyard::trainer
