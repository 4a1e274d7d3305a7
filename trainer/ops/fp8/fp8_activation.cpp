#include "trainer/ops/fp8/fp8_activation.h"

#include "trainer/ops/activation.h"
#include "trainer/ops/fp8/fp8.h"
#include "trainer/ops/gpu.h"

namespace trainyard::trainer {

using torch::Tensor;

Fp8Matrix SwiGluForwardToFp8(const Tensor& packed, const Fp8Scale& scale,
                             Fp8Arrangement arrangement) {
  if (gpu::HasKernels(packed)) return gpu::SwiGluForwardToFp8(packed, scale, arrangement);
  Tensor out = torch::empty({packed.size(0), packed.size(1) / 2}, packed.options());
  SwiGluForward(packed, out);
  return ToFp8(out, Fp8Format::kE4M3, scale, arrangement);
}

Fp8Matrix SwiGluBackwardToFp8(const Tensor& dout, const Tensor& packed, const Fp8Scale& scale) {
  if (gpu::HasKernels(packed)) return gpu::SwiGluBackwardToFp8(dout, packed, scale);
  Tensor d_packed = torch::empty_like(packed), none;
  SwiGluBackward(dout, packed, d_packed, none);
  return ToFp8(d_packed, Fp8Format::kE5M2, scale, Fp8Arrangement::kBoth);
}

}  // namespace trainyard::trainer
