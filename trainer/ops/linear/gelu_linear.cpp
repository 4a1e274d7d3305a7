#include "trainer/ops/linear/gelu_linear.h"

#include "trainer/ops/activation.h"
#include "trainer/ops/gpu.h"
#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {

using torch::Tensor;

namespace {

// cuBLASLt computes GELU with the hardware's tanh, whose error of 2^-11 is half of a rounding in
// bf16 but too much for other types. The rows of all tensors must be multiples of 16 bytes.
bool IsFused(const Tensor& y, const Tensor& factor) {
  constexpr int64_t kMultiple = 8;
  return gpu::HasKernels(y) && y.scalar_type() == torch::kBFloat16 && y.size(1) % kMultiple == 0 &&
         factor.size(1) % kMultiple == 0;
}

}  // namespace

void LinearForwardWithGelu(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& y,
                           Tensor& gelu) {
  if (IsFused(y, x)) return gpu::LinearForwardWithGelu(x, weight, bias, y, gelu);
  LinearForward(x, weight, y, bias);
  ActivationForward(Activation::kGeluTanh, y, gelu);
}

void LinearInputGradientWithGelu(const Tensor& dy, const Tensor& weight, const Tensor& y,
                                 Tensor& d_y) {
  if (IsFused(y, dy)) return gpu::LinearInputGradientWithGelu(dy, weight, y, d_y);
  LinearInputGradient(dy, weight, d_y);
  Tensor no_gelu;
  ActivationBackward(Activation::kGeluTanh, d_y, y, d_y, no_gelu);
}

}  // namespace trainyard::trainer
