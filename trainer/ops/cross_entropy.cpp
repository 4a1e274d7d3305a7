#include "trainer/ops/cross_entropy.h"

#include <torch/autograd.h>
#include <torch/utils.h>

#include <algorithm>

#include "trainer/ops/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Gradients of the sum of losses, filled chunk by chunk.
struct HeadGradients {
  Tensor hidden;
  Tensor weight;  // In the compute type: sums over many rows.
};

// Returns the summed loss of one chunk and turns `logits` into their gradient in place.
Tensor LossAndLogitGradient(Tensor& logits, const Tensor& targets, bool with_gradient) {
  const Tensor index = targets.unsqueeze(1);
  const Tensor log_sum = logits.logsumexp(1, /*keepdim=*/true);
  const Tensor loss = (log_sum - logits.gather(1, index)).to(torch::kFloat64).sum();
  if (with_gradient) {
    logits.sub_(log_sum).exp_();
    logits.scatter_(1, index, logits.gather(1, index).sub_(1));
  }
  return loss;
}

void AddWeightGradient(const Tensor& logit_gradient, const Tensor& hidden, Tensor& sum) {
  if (sum.scalar_type() == hidden.scalar_type()) {
    sum.addmm_(logit_gradient.t(), hidden);
  } else {
    sum.add_(logit_gradient.t().matmul(hidden));
  }
}

class LinearCrossEntropyFunction : public torch::autograd::Function<LinearCrossEntropyFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& hidden, const Tensor& weight,
                        const Tensor& targets, int64_t rows_per_chunk, bool with_gradient) {
    const auto compute = ComputeType(hidden.scalar_type());
    HeadGradients gradients;
    if (with_gradient) {
      gradients.hidden = torch::empty_like(hidden);
      gradients.weight = torch::zeros_like(weight, weight.options().dtype(compute));
    }
    Tensor total = torch::zeros({}, hidden.options().dtype(torch::kFloat64));
    for (int64_t first = 0; first < hidden.size(0); first += rows_per_chunk) {
      const int64_t rows = std::min(rows_per_chunk, hidden.size(0) - first);
      const Tensor part = hidden.narrow(0, first, rows);
      Tensor logits = part.matmul(weight.t()).to(compute);
      total.add_(LossAndLogitGradient(logits, targets.narrow(0, first, rows), with_gradient));
      if (!with_gradient) continue;
      const Tensor logit_gradient = logits.to(hidden.scalar_type());
      Tensor hidden_gradient = gradients.hidden.narrow(0, first, rows);
      at::mm_out(hidden_gradient, logit_gradient, weight);
      AddWeightGradient(logit_gradient, part, gradients.weight);
    }
    if (with_gradient) {
      context->saved_data["hidden"] = gradients.hidden;
      context->saved_data["weight"] = gradients.weight;
      context->saved_data["weight_type"] = static_cast<int64_t>(weight.scalar_type());
    }
    return total;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    Tensor hidden = context->saved_data["hidden"].toTensor();
    Tensor weight = context->saved_data["weight"].toTensor();
    const auto type = static_cast<torch::ScalarType>(context->saved_data["weight_type"].toInt());
    context->saved_data.clear();  // The buffers are scaled in place: one backward pass only.
    hidden.mul_(gradients[0].to(hidden.scalar_type()));
    weight.mul_(gradients[0].to(weight.scalar_type()));
    return {hidden, weight.to(type), Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

Tensor LinearCrossEntropy(const Tensor& hidden, const Tensor& weight, const Tensor& targets,
                          int64_t rows_per_chunk) {
  const bool with_gradient =
      torch::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
  return LinearCrossEntropyFunction::apply(hidden, weight, targets, rows_per_chunk, with_gradient);
}

int64_t CrossEntropyRowsPerChunk(int64_t vocabulary, torch::Device device) {
  constexpr int64_t kCpuLogits = int64_t{1} << 20;  // 4 MiB of fp32.
  constexpr int64_t kGpuLogits = int64_t{1} << 28;  // 1 GiB of fp32.
  const int64_t logits = device.is_cuda() ? kGpuLogits : kCpuLogits;
  return std::max<int64_t>(logits / vocabulary, 64);
}

}  // namespace trainyard::trainer
