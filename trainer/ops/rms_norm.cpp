#include "trainer/ops/rms_norm.h"

#include "trainer/ops/compute_type.h"
#include "trainer/ops/gpu.h"

namespace trainyard::trainer {

using torch::Tensor;

void RmsNormForward(const Tensor& x, const Tensor& weight, double epsilon, Tensor& y,
                    Tensor& inverse_rms) {
  if (gpu::HasKernels(x)) return gpu::RmsNormForward(x, weight, epsilon, y, inverse_rms);
  const auto compute = ComputeType(x.scalar_type());
  const Tensor wide = x.to(compute);
  at::mean_out(inverse_rms, wide.square(), {-1});
  inverse_rms.add_(epsilon).rsqrt_();
  y.copy_((wide * inverse_rms.unsqueeze(-1)).mul_(weight.to(compute)));
}

// With n = x * inverse_rms and p = dy * n: the weight's gradient is the sum of p over the rows and,
// as p.w is the row's inner product of dy * w with n,
// dx = (dy * w - n * (p.w) / width) * inverse_rms.
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
  if (residual_gradient.defined()) wide.add_(residual_gradient);
  dx.copy_(wide);
  Tensor sum = weight_gradient.gradient;
  weight_gradient.accumulate ? sum.add_(product.sum(0)) : at::sum_out(sum, product, {0});
}

}  // namespace trainyard::trainer
