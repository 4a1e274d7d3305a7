// fp32 master weights of bf16 parameters. A master weight is stored as the bf16 parameter plus 16
// more bits. The representation is exact and takes two bytes per weight less than a separate fp32
// copy.
#ifndef TRAINYARD_TRAINER_OPS_OPTIMIZER_MASTER_WEIGHTS_H_
#define TRAINYARD_TRAINER_OPS_OPTIMIZER_MASTER_WEIGHTS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// Let b be the bits of an fp32 master weight. The bf16 parameter is the weight rounded half away
// from zero, with the bits (b + 0x8000) >> 16. The low bits are b & 0xffff, stored as a signed
// int16. Joining computes (value << 16) + low, where `value` is the bits of the parameter. The sign
// of `low` reverses the rounding, so the result is b for every weight within the range of bf16.

// Returns the fp32 master weights, on the same device. values: bf16; low_bits: int16, of the same
// shape.
torch::Tensor JoinMasterWeights(const torch::Tensor& values, const torch::Tensor& low_bits);

// Joins `count` weights in host memory and writes them to `master`. `values` contains the bits of
// bf16 numbers.
void JoinMasterWeights(const uint16_t* values, const int16_t* low_bits, int64_t count,
                       float* master);

// Overwrites `values` and `low_bits`. master: fp32, on the same device as `values` and `low_bits`.
void SplitMasterWeights(const torch::Tensor& master, torch::Tensor& values,
                        torch::Tensor& low_bits);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_OPTIMIZER_MASTER_WEIGHTS_H_
