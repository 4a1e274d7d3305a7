#include "trainer/ops/linear/linear.h"

#include "trainer/ops/gpu.h"

namespace trainyard::trainer {

using torch::Tensor;

namespace {

// Returns the type in which a CPU multiplies. LibTorch has fp16 products for only some CPUs.
torch::ScalarType ProductType(const Tensor& x) {
  const auto type = x.scalar_type();
  return type == torch::kHalf ? torch::kFloat32 : type;
}

// y = a b, computed in the product type and rounded once. `a` and `b` are matrices.
void Multiply(const Tensor& a, const Tensor& b, Tensor& y) {
  const auto type = ProductType(a);
  if (type == y.scalar_type()) {
    at::mm_out(y, a, b);
  } else {
    y.copy_(at::mm(a.to(type), b.to(type)));
  }
}

}  // namespace

void LinearForward(const Tensor& x, const Tensor& weight, Tensor& y, const Tensor& bias) {
  if (gpu::HasKernels(x)) return gpu::LinearForward(x, weight, y, bias);
  Multiply(x, weight.t(), y);
  if (bias.defined()) AddBias(bias, y);
}

void LinearForwardWithResidual(const Tensor& x, const Tensor& weight, const Tensor& residual,
                               Tensor& y, const Tensor& bias) {
  if (gpu::HasKernels(x)) return gpu::LinearForwardWithResidual(x, weight, residual, y, bias);
  const auto type = ProductType(x);
  if (type == y.scalar_type()) {
    at::addmm_out(y, residual, x, weight.t());
  } else {
    y.copy_(at::addmm(residual.to(type), x.to(type), weight.t().to(type)));
  }
  if (bias.defined()) AddBias(bias, y);
}

void LinearInputGradient(const Tensor& dy, const Tensor& weight, Tensor& dx) {
  if (gpu::HasKernels(dy)) return gpu::LinearInputGradient(dy, weight, dx);
  Multiply(dy, weight, dx);
}

void LinearWeightGradient(const Tensor& dy, const Tensor& x, const GradientTarget& target) {
  if (gpu::HasKernels(dy)) return gpu::LinearWeightGradient(dy, x, target);
  Tensor gradient = target.gradient;
  const Tensor wide_dy = dy.to(gradient.scalar_type()), wide_x = x.to(gradient.scalar_type());
  target.accumulate ? gradient.addmm_(wide_dy.t(), wide_x)
                    : at::mm_out(gradient, wide_dy.t(), wide_x);
}

void AddBias(const Tensor& bias, Tensor& y) {
  if (gpu::HasKernels(y)) return gpu::AddBias(bias, y);
  y.add_(bias);
}

void BiasGradient(const Tensor& dy, const GradientTarget& target) {
  if (gpu::HasKernels(dy)) return gpu::BiasGradient(dy, target);
  Tensor gradient = target.gradient;
  const auto type = gradient.scalar_type();
  target.accumulate ? gradient.add_(dy.sum(0, /*keepdim=*/false, type))
                    : at::sum_out(gradient, dy, {0}, /*keepdim=*/false, type);
}

}  // namespace trainyard::trainer
