// Rotary position embedding (Su et al. 2021, arXiv 2104.09864) in the half-split convention of
// LLaMA checkpoints on Hugging Face: among the first rotary_size elements of a head, elements i and
// i + rotary_size / 2 form a pair. The other elements of the head are not rotated (GPT-NeoX, Black
// et al. 2022, arXiv 2204.06745).
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_ROTARY_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_ROTARY_H_

#include <torch/types.h>

#include <cstdint>
#include <optional>

#include "trainer/ops/tensors/attention_heads.h"
#include "trainer/ops/tensors/rotary_table.h"

namespace trainyard::trainer {

// YaRN (Peng et al. 2023, arXiv 2309.00071, in the form of DeepSeek-V3's published code).
// Frequencies with index i <= low are kept. Frequencies with i >= high are divided by the scaling
// factor. Between these limits, the two results are interpolated linearly in i. `low` is the index,
// rounded down, of the frequency that makes beta_fast turns over the original length. `high` is the
// index, rounded up, for beta_slow turns.
struct YarnScaling {
  double beta_fast = 32;
  double beta_slow = 1;
  // Cosines and sines are multiplied by YarnMagnitude(factor, mscale) / YarnMagnitude(factor,
  // mscale_all_dim). The caller multiplies scores by the square of the second magnitude.
  double mscale = 1;
  double mscale_all_dim = 0;
};

// Frequencies base^(-2i / rotary_size), i = 0, 1, ... Low frequencies are scaled by `yarn` if it is
// set; otherwise they are scaled as in LLaMA 3.1 (The Llama 3 Herd of Models, arXiv 2407.21783; the
// formula is from Llama 3.1's published code). Let t be the number of turns of a frequency over
// original_length. LLaMA 3.1 keeps the frequency if t >= high_factor, and divides it by
// scaling_factor if t <= low_factor. Between these limits, the two results are interpolated
// linearly in t.
struct RotaryFrequencies {
  double base = 10000;
  double scaling_factor = 1;  // 1: no scaling.
  double low_factor = 1;      // Less than high_factor.
  double high_factor = 4;
  double original_length = 8192;  // Tokens.
  std::optional<YarnScaling> yarn = {};
};

// Returns 1 + 0.1 * mscale * ln(scaling_factor), by which YaRN makes heads larger.
double YarnMagnitude(double scaling_factor, double mscale);

// Returns the table for `positions`, int64 [positions], on their device. Angles are computed in
// fp64 and rounded once to `type`.
RotaryTable MakeRotaryTable(const torch::Tensor& positions, int64_t rotary_size,
                            const RotaryFrequencies& frequencies, torch::ScalarType type);

// Rotates heads, [batch, length, heads, rotary_size] with any strides, in place. The plain version
// for every device.
void RotateHeads(const torch::Tensor& heads, const RotaryTable& table, Rotation rotation);

// Rotates the query and key heads of packed rows (attention_heads.h) in place. The table is in the
// compute type. It may cover only the first elements of each head. The table has the positions
// either of one sample or of all samples, one sample after another.
void Rotate(torch::Tensor& packed, const RotaryTable& table, const AttentionHeads& heads,
            Rotation rotation);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_ROTARY_H_
