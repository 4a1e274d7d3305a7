// Joins the parts of the heads of latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1.3):
// elements without positions, which differ between heads, and rotated elements, which all key heads
// share.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_LATENT_HEADS_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_LATENT_HEADS_H_

#include "trainer/ops/tensors/latent_head_tensors.h"
#include "trainer/ops/tensors/rotary_table.h"

namespace trainyard::trainer {

// Rotates the last elements of each query head in place. Writes `key`: the unrotated elements of
// each head of `expanded`, followed by the rotated `shared` elements. `shared` and `expanded` do
// not change. The table is in the compute type, with the positions of one sample or of all samples,
// one sample after another.
void JoinLatentHeads(LatentHeads& heads, const RotaryTable& table);

// The gradient of JoinLatentHeads. On entry, `gradients` contains the gradients of the rotated
// queries and of the joint keys. Rotates the gradient of the queries back in place. Writes the
// gradient of the unrotated elements into `expanded`, whose value columns do not change, and the
// gradient of `shared`, a sum over heads. The sum is computed in the compute type and rounded once.
void SplitLatentHeads(LatentHeads& gradients, const RotaryTable& table);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_LATENT_HEADS_H_
