#include "trainer/ops/optimizer/master_weights.h"

#include <bit>

namespace trainyard::trainer {

using torch::Tensor;

Tensor JoinMasterWeights(const Tensor& values, const Tensor& low_bits) {
  const Tensor high = values.view(torch::kInt16).to(torch::kInt32);
  return high.mul(1 << 16).add_(low_bits).view(torch::kFloat32);
}

void JoinMasterWeights(const uint16_t* values, const int16_t* low_bits, int64_t count,
                       float* master) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t high = static_cast<uint32_t>(values[i]) << 16;
    master[i] = std::bit_cast<float>(high + static_cast<uint32_t>(low_bits[i]));
  }
}

void SplitMasterWeights(const Tensor& master, Tensor& values, Tensor& low_bits) {
  const Tensor bits = master.view(torch::kInt32);
  low_bits.copy_(bits.bitwise_and(0xffff));  // The conversion to int16 keeps these 16 bits.
  Tensor high = values.view(torch::kInt16);
  high.copy_(bits.add(0x8000).bitwise_right_shift(16));
}

}  // namespace trainyard::trainer
