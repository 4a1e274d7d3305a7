#include "trainer/ops/norms/rms_norm.h"

#include "trainer/ops/gpu.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

using torch::Tensor;

void RmsNormForward(const Tensor& x, const Tensor& weight, double epsilon, Tensor& y,
                    Tensor& inverse_rms) {
  if (gpu::HasKernels(x)) return gpu::RmsNormForward(x, weight, epsilon, y, inverse_rms);
  const auto compute = ComputeType(x.scalar_type());
  const Tensor wide = x.to(compute);
  at::mean_out(inverse_rms, wide.square(), {-1});
  inverse_rms.add_(epsilon).rsqrt_();
  const bool is_wide = y.scalar_type() == compute;
  Tensor wide_y = is_wide ? y : torch::empty_like(wide);
  at::mul_out(wide_y, wide, inverse_rms.unsqueeze(-1));
  wide_y.mul_(weight.to(compute));
  if (!is_wide) y.copy_(wide_y);
}

// Let n = x * inverse_rms and p = dy * n. The gradient of the weight is the sum of p over the rows.
// p.w is the inner product of p and w within a row. Hence dx = (dy * w - n * (p.w) / width) *
// inverse_rms.
void RmsNormBackward(const Tensor& dy, const RmsNormInput& input, const Tensor& residual_gradient,
                     Tensor& dx, const GradientTarget& weight_gradient) {
  if (gpu::HasKernels(dy)) {
    return gpu::RmsNormBackward(dy, input, residual_gradient, dx, weight_gradient);
  }
  const auto compute = ComputeType(dy.scalar_type());
  const Tensor inverse_rms = input.inverse_rms.unsqueeze(-1);
  const Tensor gradient = dy.to(compute);
  const Tensor weight = input.weight.to(compute);
  const Tensor normal = input.x.to(compute) * inverse_rms;
  const Tensor product = gradient * normal;
  const Tensor mean = product.matmul(weight).div_(input.x.size(-1)).unsqueeze_(-1);
  Tensor wide = (gradient * weight).addcmul_(normal, mean, /*value=*/-1).mul_(inverse_rms);
  if (!residual_gradient.defined()) {
    dx.copy_(wide);
  } else if (dx.scalar_type() == compute) {
    at::add_out(dx, wide, residual_gradient);
  } else {
    dx.copy_(wide.add_(residual_gradient));
  }
  Tensor sum = weight_gradient.gradient;
  weight_gradient.accumulate ? sum.add_(product.sum(0)) : at::sum_out(sum, product, {0});
}

}  // namespace trainyard::trainer
