#include "trainer/ops/experts/scaled_activation.h"

#include "trainer/ops/activation.h"
#include "trainer/ops/gpu.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

bool HasKernel(Activation kind, const Tensor& packed) {
  return kind == Activation::kSwiglu && gpu::HasKernels(packed);
}

}  // namespace

void ScaledActivationForward(Activation kind, const Tensor& packed, const Tensor& scales,
                             Tensor& out) {
  if (HasKernel(kind, packed)) return gpu::ScaledSwiGluForward(packed, scales, out);
  Tensor wide = torch::empty(out.sizes(), scales.options());
  ActivationForward(kind, packed.to(scales.scalar_type()), wide);
  out.copy_(wide.mul_(scales.unsqueeze(1)));
}

Tensor ScaledActivationBackward(Activation kind, const Tensor& dout, const Tensor& packed,
                                const Tensor& scales, Tensor& d_packed, Tensor& out) {
  if (HasKernel(kind, packed)) {
    return gpu::ScaledSwiGluBackward(dout, packed, scales, d_packed, out);
  }
  const auto compute = scales.scalar_type();
  const Tensor wide = packed.to(compute), wide_dout = dout.to(compute);
  Tensor result = torch::empty(dout.sizes(), scales.options());
  Tensor d_wide = torch::empty(packed.sizes(), scales.options());
  ActivationBackward(kind, wide_dout * scales.unsqueeze(1), wide, d_wide, result);
  const Tensor d_scales = (wide_dout * result).sum(1);
  d_packed.copy_(d_wide);
  if (out.defined()) out.copy_(result.mul_(scales.unsqueeze(1)));
  return d_scales;
}

}  // namespace trainyard::trainer
