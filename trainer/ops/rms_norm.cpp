#include "trainer/ops/rms_norm.h"

#include <torch/autograd.h>

#include "trainer/ops/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class RmsNormFunction : public torch::autograd::Function<RmsNormFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        double epsilon) {
    const auto compute = ComputeType(x.scalar_type());
    const Tensor wide = x.to(compute);
    const Tensor inverse_rms = wide.square().mean(-1, /*keepdim=*/true).add_(epsilon).rsqrt_();
    context->save_for_backward({x, weight, inverse_rms});
    return (wide * inverse_rms).mul_(weight.to(compute)).to(x.scalar_type());
  }

  // With n = x / rms and p = g * n: dw = sum_rows p and, as p.w is the row's inner product of g * w
  // with n, dx = (g * w - n * (p.w) / width) / rms.
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &inverse_rms = saved[2];
    const auto compute = ComputeType(x.scalar_type());
    const Tensor gradient = gradients[0].to(compute);
    const Tensor wide_weight = weight.to(compute);
    const Tensor normal = x.to(compute) * inverse_rms;
    const Tensor product = gradient * normal;
    const Tensor mean = product.matmul(wide_weight).div_(x.size(-1)).unsqueeze_(-1);
    const Tensor dx =
        (gradient * wide_weight).addcmul_(normal, mean, /*value=*/-1).mul_(inverse_rms);
    return {dx.to(x.scalar_type()), product.sum(0).to(weight.scalar_type()), Tensor()};
  }
};

}  // namespace

Tensor RmsNorm(const Tensor& x, const Tensor& weight, double epsilon) {
  return RmsNormFunction::apply(x, weight, epsilon);
}

}  // namespace trainyard::trainer
