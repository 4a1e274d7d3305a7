// fp32 master weights of bf16 parameters, kept as the parameter and 16 more bits: exact, and two
// bytes a weight less than a second copy.
#ifndef TRAINYARD_TRAINER_OPS_MASTER_WEIGHTS_H_
#define TRAINYARD_TRAINER_OPS_MASTER_WEIGHTS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// With b the bits of a master weight: value = (b + 0x8000) >> 16, which is b rounded to bf16 (half
// away from zero), and low = b & 0xffff, stored as int16. Hence b = (value << 16) + low with `low`
// signed. Exact for every weight that bf16 can hold.

// values: bf16, low_bits: int16, of one shape. Returns fp32 on the same device.
torch::Tensor JoinMasterWeights(const torch::Tensor& values, const torch::Tensor& low_bits);

// The same for `count` weights in host memory; `values` has the bits of bf16 numbers.
void JoinMasterWeights(const uint16_t* values, const int16_t* low_bits, int64_t count,
                       float* master);

// master: fp32 on the device of the two others, which it overwrites.
void SplitMasterWeights(const torch::Tensor& master, torch::Tensor& values,
                        torch::Tensor& low_bits);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_MASTER_WEIGHTS_H_
