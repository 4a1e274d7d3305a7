// fp32 master weights of bf16 parameters, stored as the parameter plus 16 more bits: exact, and two
// bytes per weight less than a separate fp32 copy.
#ifndef TRAINYARD_TRAINER_OPS_MASTER_WEIGHTS_H_
#define TRAINYARD_TRAINER_OPS_MASTER_WEIGHTS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// Let b be the bits of a master weight. value = (b + 0x8000) >> 16 is b rounded to bf16 (half away
// from zero). low = b & 0xffff, stored as int16. Hence b = (value << 16) + low with `low` signed.
// Exact for every weight within the range of bf16.

// values: bf16, low_bits: int16, of one shape. Returns fp32 on the same device.
torch::Tensor JoinMasterWeights(const torch::Tensor& values, const torch::Tensor& low_bits);

// Variant for `count` weights in host memory; `values` has the bits of bf16 numbers.
void JoinMasterWeights(const uint16_t* values, const int16_t* low_bits, int64_t count,
                       float* master);

// master: fp32, on the device of the other two, which are overwritten.
void SplitMasterWeights(const torch::Tensor& master, torch::Tensor& values,
                        torch::Tensor& low_bits);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_MASTER_WEIGHTS_H_
