// Rotary position embedding (Su et al. 2021, arXiv 2104.09864) in the half-split convention of
// LLaMA checkpoints on Hugging Face: among the first rotary_size elements of a head, elements i and
// i + rotary_size / 2 form a pair. The other elements of the head are not rotated (GPT-NeoX, Black
// et al. 2022, arXiv 2204.06745).
#ifndef TRAINYARD_TRAINER_OPS_ROTARY_H_
#define TRAINYARD_TRAINER_OPS_ROTARY_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/attention_heads.h"
#include "trainer/ops/rotary_table.h"

namespace trainyard::trainer {

// Frequencies base^(-2i / rotary_size), of which the low ones are scaled as in LLaMA 3.1 (The Llama
// 3 Herd of Models, arXiv 2407.21783; the formula is from Llama 3.1's published code). Let t be the
// number of turns of a frequency over original_length. The frequency is kept if t >= high_factor,
// and divided by scaling_factor if t <= low_factor. Between these limits, the two results are
// interpolated linearly in t.
struct RotaryFrequencies {
  double base = 10000;
  double scaling_factor = 1;  // 1: no scaling.
  double low_factor = 1;      // Less than high_factor.
  double high_factor = 4;
  double original_length = 8192;  // Tokens.
};

// Returns the table for `positions`, int64 [positions], on their device. Angles are computed in
// fp64 and rounded once to `type`.
RotaryTable MakeRotaryTable(const torch::Tensor& positions, int64_t rotary_size,
                            const RotaryFrequencies& frequencies, torch::ScalarType type);

// Rotates the query and key heads of packed rows (attention_heads.h) in place. The table is in the
// compute type. It may cover only the first elements of each head. Its positions are either those
// of one sample or those of all samples, one sample after another.
void Rotate(torch::Tensor& packed, const RotaryTable& table, const AttentionHeads& heads,
            Rotation rotation);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ROTARY_H_
