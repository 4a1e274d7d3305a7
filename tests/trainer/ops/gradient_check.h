// Compares autograd's gradients with central differences.
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

// A fixed weighted sum, so that every output element has a gradient of its own.
inline torch::Tensor Project(const torch::Tensor& output) {
  const auto count = output.numel();
  return (output.reshape({-1}) * torch::linspace(-1, 2, count, output.options())).sum();
}

// Largest difference between the two gradients of any input element, relative to the largest
// gradient. Inputs are fp64.
inline double GradientError(const ScalarFunction& function, std::vector<torch::Tensor> inputs) {
  for (torch::Tensor& input : inputs) input = input.detach().clone().set_requires_grad(true);
  const auto gradients = torch::autograd::grad({function(inputs)}, inputs);
  torch::NoGradGuard no_grad;
  constexpr double kStep = 1e-6;
  double worst = 0, largest = 1e-12;
  for (size_t i = 0; i < inputs.size(); ++i) {
    double* element = inputs[i].data_ptr<double>();
    const torch::Tensor gradient = gradients[i].contiguous();
    for (int64_t j = 0; j < inputs[i].numel(); ++j) {
      const double kept = element[j];
      element[j] = kept + kStep;
      const double above = function(inputs).item<double>();
      element[j] = kept - kStep;
      const double below = function(inputs).item<double>();
      element[j] = kept;
      const double expected = (above - below) / (2 * kStep);
      worst = std::max(worst, std::abs(expected - gradient.data_ptr<double>()[j]));
      largest = std::max(largest, std::abs(expected));
    }
  }
  return worst / largest;
}

// Largest absolute difference relative to the largest element of `expected`, in fp64.
inline double RelativeError(const torch::Tensor& actual, const torch::Tensor& expected) {
  const torch::Tensor reference = expected.detach().to(torch::kFloat64);
  const torch::Tensor difference = actual.detach().to(torch::kFloat64) - reference;
  return difference.abs().max().item<double>() / reference.abs().max().item<double>();
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_OPS_GRADIENT_CHECK_H_
