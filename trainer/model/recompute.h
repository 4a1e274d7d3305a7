// Activation recomputation: keeps a block's input only and runs the block again when its gradients
// are needed (Chen et al. 2016, arXiv 1604.06174).
#ifndef TRAINYARD_TRAINER_MODEL_RECOMPUTE_H_
#define TRAINYARD_TRAINER_MODEL_RECOMPUTE_H_

#include <torch/types.h>

#include "trainer/model/decoder.h"

namespace trainyard::trainer {

// The same values and gradients as block.Forward(x, context), bit for bit. The block must outlive
// the backward pass; the context is copied, and what it refers to must outlive it too.
torch::Tensor ForwardWithRecompute(const DecoderBlock& block, const torch::Tensor& x,
                                   const BlockContext& context);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_RECOMPUTE_H_
