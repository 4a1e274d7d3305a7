// Rotary position embedding (Su et al. 2021, arXiv 2104.09864) in the half-split convention of
// LLaMA checkpoints on Hugging Face: within the first rotary_size elements of a head, element i is
// paired with element i + rotary_size / 2. The remaining elements are unchanged (GPT-NeoX, Black et
// al. 2022, arXiv 2204.06745).
#ifndef TRAINYARD_TRAINER_OPS_ROTARY_H_
#define TRAINYARD_TRAINER_OPS_ROTARY_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/attention_heads.h"
#include "trainer/ops/rotary_table.h"

namespace trainyard::trainer {

// base^(-2i / rotary_size), with the low frequencies scaled as in LLaMA 3.1 (The Llama 3 Herd of
// Models, arXiv 2407.21783; the formula is from Llama 3.1's published code). A frequency that turns
// t times over original_length is kept for t >= high_factor, divided by scaling_factor for t <=
// low_factor, and blended linearly in t between the two.
struct RotaryFrequencies {
  double base = 10000;
  double scaling_factor = 1;  // 1: no scaling.
  double low_factor = 1;      // Less than high_factor.
  double high_factor = 4;
  double original_length = 8192;  // Tokens.
};

// Table for positions, int64 [positions], on their device. Computed in fp64 and rounded once to
// `type`.
RotaryTable MakeRotaryTable(const torch::Tensor& positions, int64_t rotary_size,
                            const RotaryFrequencies& frequencies, torch::ScalarType type);

// Rotates the query and key heads of packed rows (attention_heads.h) in place. The table covers
// whole heads or their first elements and is in the compute type. It has the positions of one
// sample, in row order, or those of all samples concatenated.
void Rotate(torch::Tensor& packed, const RotaryTable& table, const AttentionHeads& heads,
            Rotation rotation);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ROTARY_H_
