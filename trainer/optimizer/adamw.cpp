#include "trainer/optimizer/adamw.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// On a CPU the four buffers of one piece stay in the cache through all passes of an update, and
// fp32 sums stay short; a GPU wants few large launches.
int64_t PieceElements(torch::Device device) {
  return device.is_cuda() ? int64_t{1} << 26 : int64_t{1} << 15;
}

}  // namespace

struct AdamW::Factors {
  double learning_rate;
  double gradient_scale;
  double step_size;        // learning_rate / (1 - beta1^step)
  double root_correction;  // sqrt(1 - beta2^step)
};

AdamW::AdamW(const OptimizerConfig& config, ParameterStore& store)
    : config_(config),
      store_(store),
      first_moment_(torch::zeros_like(store.master())),
      second_moment_(torch::zeros_like(store.master())) {}

void AdamW::Step(int64_t step, double learning_rate, double gradient_scale) {
  torch::NoGradGuard no_grad;
  const double count = static_cast<double>(step);
  const Factors factors{learning_rate, gradient_scale,
                        learning_rate / (1 - std::pow(config_.adam_beta1, count)),
                        std::sqrt(1 - std::pow(config_.adam_beta2, count))};
  const int64_t piece = PieceElements(store_.device());
  const int64_t decaying = store_.decaying_elements();
  const int64_t all = store_.master().numel();
  for (int64_t first = 0; first < all;) {
    const int64_t end = first < decaying ? decaying : all;
    const int64_t length = std::min(piece, end - first);
    UpdateRange(first, length, first < decaying, factors);
    first += length;
  }
  store_.RefreshValues();
}

void AdamW::UpdateRange(int64_t first, int64_t length, bool decays, const Factors& factors) {
  Tensor weight = store_.master().narrow(0, first, length);
  Tensor gradient = store_.gradients().narrow(0, first, length);
  Tensor mean = first_moment_.narrow(0, first, length);
  Tensor square = second_moment_.narrow(0, first, length);
  if (factors.gradient_scale != 1) gradient.mul_(factors.gradient_scale);
  mean.lerp_(gradient, 1 - config_.adam_beta1);
  square.mul_(config_.adam_beta2).addcmul_(gradient, gradient, 1 - config_.adam_beta2);
  const Tensor denominator = square.sqrt().div_(factors.root_correction).add_(config_.adam_eps);
  if (decays) weight.mul_(1 - factors.learning_rate * config_.weight_decay);
  weight.addcdiv_(mean, denominator, -factors.step_size);
}

double GradientNorm(ParameterStore& store) {
  const Tensor& gradients = store.gradients();
  const int64_t piece = PieceElements(store.device());
  std::vector<Tensor> norms;
  for (int64_t first = 0; first < gradients.numel(); first += piece) {
    const int64_t length = std::min(piece, gradients.numel() - first);
    norms.push_back(at::linalg_vector_norm(gradients.narrow(0, first, length)));
  }
  return at::linalg_vector_norm(torch::stack(norms).to(torch::kFloat64)).item<double>();
}

double ClipScale(double norm, double max_norm) {
  return max_norm > 0 && norm > max_norm ? max_norm / norm : 1.0;
}

}  // namespace trainyard::trainer
