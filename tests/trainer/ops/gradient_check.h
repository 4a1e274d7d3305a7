// Compares manually written gradients with those of autograd.
#ifndef TRAINYARD_TESTS_TRAINER_OPS_GRADIENT_CHECK_H_
#define TRAINYARD_TESTS_TRAINER_OPS_GRADIENT_CHECK_H_

#include <torch/autograd.h>
#include <torch/utils.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace trainyard::trainer {

using ScalarFunction = std::function<torch::Tensor(const std::vector<torch::Tensor>&)>;

inline torch::Tensor RandomDouble(std::vector<int64_t> shape) {
  return torch::randn(shape, torch::kFloat64);
}

// Returns fixed weights, one per output element, so that each element has a different gradient.
inline torch::Tensor OutputWeights(const torch::Tensor& output) {
  return torch::linspace(-1, 2, output.numel(), output.options()).view(output.sizes());
}

// Returns autograd's gradients of sum(output * OutputWeights(output)), as the reference. The inputs
// must be fp64.
inline std::vector<torch::Tensor> AutogradGradients(const ScalarFunction& function,
                                                    std::vector<torch::Tensor> inputs) {
  for (torch::Tensor& input : inputs) input = input.detach().clone().set_requires_grad(true);
  const torch::Tensor output = function(inputs);
  return torch::autograd::grad({(output * OutputWeights(output.detach())).sum()}, inputs);
}

// Returns the gradient of a scalar function at `input`, which must be fp64, by central differences.
inline torch::Tensor CentralDifferences(
    const std::function<double(const torch::Tensor& input)>& function, const torch::Tensor& input) {
  constexpr double kStep = 1e-5;
  torch::Tensor gradient = torch::empty_like(input);
  for (int64_t i = 0; i < input.numel(); ++i) {
    const auto moved = [&](double step) {
      torch::Tensor other = input.clone();
      other.view({-1})[i] += step;
      return function(other);
    };
    gradient.view({-1})[i] = (moved(kStep) - moved(-kStep)) / (2 * kStep);
  }
  return gradient;
}

// Returns the largest absolute difference divided by the largest absolute element of `expected`, in
// fp64.
inline double RelativeError(const torch::Tensor& actual, const torch::Tensor& expected) {
  const torch::Tensor reference = expected.detach().cpu().to(torch::kFloat64);
  const torch::Tensor difference = actual.detach().cpu().to(torch::kFloat64) - reference;
  return difference.abs().max().item<double>() /
         std::max(reference.abs().max().item<double>(), 1e-300);
}

// Returns the norm of the difference divided by the norm of `expected`, in fp64. NaN if any element
// is NaN.
inline double RelativeNorm(const torch::Tensor& actual, const torch::Tensor& expected) {
  const torch::Tensor reference = expected.detach().cpu().to(torch::kFloat64);
  const torch::Tensor difference = actual.detach().cpu().to(torch::kFloat64) - reference;
  return difference.norm().item<double>() / std::max(reference.norm().item<double>(), 1e-300);
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_OPS_GRADIENT_CHECK_H_
