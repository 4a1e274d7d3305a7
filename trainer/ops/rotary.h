// Rotary position embedding (Su et al. 2021, arXiv 2104.09864) in the half-split convention of
// LLaMA checkpoints on Hugging Face: of the first rotary_size elements of a head, i is paired with
// i
// + rotary_size / 2. The others stay as they are (GPT-NeoX, Black et al. 2022, arXiv 2204.06745).
#ifndef TRAINYARD_TRAINER_OPS_ROTARY_H_
#define TRAINYARD_TRAINER_OPS_ROTARY_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/ops/attention_heads.h"

namespace trainyard::trainer {

// cos and sin of position * base^(-2i / rotary_size), each [positions, rotary_size / 2].
struct RotaryTable {
  torch::Tensor cos;
  torch::Tensor sin;
};

// base^(-2i / rotary_size), of which LLaMA 3.1 scales the low ones (The Llama 3 Herd of Models,
// arXiv 2407.21783; the published code of Llama 3.1 gives the formula): a frequency that turns t
// times over original_length is kept for t >= high_factor, divided by scaling_factor for t <=
// low_factor, and between the two it is blended linearly in t.
struct RotaryFrequencies {
  double base = 10000;
  double scaling_factor = 1;  // 1: nothing is scaled.
  double low_factor = 1;      // Below high_factor.
  double high_factor = 4;
  double original_length = 8192;  // Tokens.
};

// Of these positions, int64 [positions], on their device. Computed in fp64 and rounded once to
// `type`.
RotaryTable MakeRotaryTable(const torch::Tensor& positions, int64_t rotary_size,
                            const RotaryFrequencies& frequencies, torch::ScalarType type);

enum class Rotation { kForward, kBack };  // kBack turns gradients, by the negative angle.

// Turns the query and key heads of packed rows (attention_heads.h) in place. The table, for whole
// heads or their first elements, is in the compute type and holds exactly the positions of a
// sample, in the order of its rows, or those of all samples, one after the other.
void Rotate(torch::Tensor& packed, const RotaryTable& table, const AttentionHeads& heads,
            Rotation rotation);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ROTARY_H_
