#include "trainer/ops/norms/layer_norm.h"

#include "trainer/ops/gpu.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns (x - mean) * inverse_std, in the compute type.
Tensor Normalised(const Tensor& x, const Tensor& statistics) {
  const Tensor wide = x.to(statistics.scalar_type());
  return (wide - statistics[0].unsqueeze(-1)).mul_(statistics[1].unsqueeze(-1));
}

// Overwrites the target with the sum of the rows, or adds the sum to it.
void AddUp(const Tensor& rows, const std::optional<GradientTarget>& target) {
  if (!target.has_value()) return;
  Tensor sum = target->gradient;
  target->accumulate ? sum.add_(rows.sum(0)) : at::sum_out(sum, rows, {0});
}

}  // namespace

void LayerNormForward(const Tensor& x, const LayerNormWeights& weights, double epsilon, Tensor& y,
                      Tensor& statistics) {
  if (gpu::HasKernels(x)) return gpu::LayerNormForward(x, weights, epsilon, y, statistics);
  const Tensor wide = x.to(ComputeType(x.scalar_type()));
  Tensor mean = statistics[0], inverse_std = statistics[1];
  at::mean_out(mean, wide, {-1});
  at::mean_out(inverse_std, (wide - mean.unsqueeze(-1)).square_(), {-1});
  inverse_std.add_(epsilon).rsqrt_();
  Tensor normal = Normalised(x, statistics);
  if (weights.weight.defined()) normal.mul_(weights.weight.to(normal.scalar_type()));
  if (weights.bias.defined()) normal.add_(weights.bias.to(normal.scalar_type()));
  y.copy_(normal);
}

// With n = (x - mean) * inverse_std and g = dy * weight:
// dx = (g - mean(g) - n * mean(g * n)) * inverse_std.
void LayerNormBackward(const Tensor& dy, const LayerNormInput& input,
                       const Tensor& residual_gradient, Tensor& dx,
                       const LayerNormTargets& targets) {
  if (gpu::HasKernels(dy)) {
    return gpu::LayerNormBackward(dy, input, residual_gradient, dx, targets);
  }
  const auto compute = input.statistics.scalar_type();
  const Tensor normal = Normalised(input.x, input.statistics), gradient = dy.to(compute);
  AddUp(gradient * normal, targets.weight);
  AddUp(gradient, targets.bias);
  const Tensor inner = input.weight.defined() ? gradient * input.weight.to(compute) : gradient;
  Tensor wide = inner - inner.mean(-1, /*keepdim=*/true);
  wide.sub_(normal * (inner * normal).mean(-1, /*keepdim=*/true));
  wide.mul_(input.statistics[1].unsqueeze(-1));
  if (residual_gradient.defined()) wide.add_(residual_gradient);
  dx.copy_(wide);
}

}  // namespace trainyard::trainer
