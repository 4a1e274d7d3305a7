// The parameters, gradients, moments and factors used by an AdamW update.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_ADAMW_STATE_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_ADAMW_STATE_H_

#include <torch/types.h>

#include <cstdint>

namespace trainyard::trainer {

// Flat tensors of equal length.
struct AdamWState {
  // fp32 or fp64 master weights; or bf16, with low_bits; or fp16, with masters.
  torch::Tensor values;
  torch::Tensor low_bits;       // Low 16 bits of the master weights (master_weights.h).
  torch::Tensor masters;        // fp32 master weights.
  torch::Tensor gradients;      // In the compute type of `values`.
  torch::Tensor first_moment;   // fp32, fp64 or bf16 (rounded stochastically).
  torch::Tensor second_moment;  // The same types as first_moment.
  // The seed for the stochastic rounding of element 0; element i uses first_element + i. An element
  // has the same seed in every layout, so it is rounded in the same way in every layout.
  int64_t first_element = 0;
};

struct AdamWFactors {
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double weight_decay = 0;  // 0 for parameters without weight decay.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_ADAMW_STATE_H_
