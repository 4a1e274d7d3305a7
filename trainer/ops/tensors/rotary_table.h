// The table of sines and cosines for rotary positions, and the direction of a rotation.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_ROTARY_TABLE_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_ROTARY_TABLE_H_

#include <torch/types.h>

namespace trainyard::trainer {

// cos and sin of position * base^(-2i / rotary_size), each [positions, rotary_size / 2].
struct RotaryTable {
  torch::Tensor cos;
  torch::Tensor sin;
};

enum class Rotation { kForward, kBack };  // kBack rotates by the negative angle, for gradients.

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_ROTARY_TABLE_H_
