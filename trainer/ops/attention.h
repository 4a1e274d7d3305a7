// Causal self-attention with grouped queries.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_H_

#include <torch/types.h>

#include "trainer/ops/attention_heads.h"
#include "trainer/ops/visible_keys.h"

namespace trainyard::trainer {

// The code that computes attention.
enum class AttentionKernel {
  kAuto,   // kCudnn for bf16 on a GPU where samples have no documents, else kManual.
  kCudnn,  // A fused graph of cuDNN: bf16 on a GPU. Documents by their bias.
  kFlash,  // LibTorch's flash attention: bf16 on a GPU. No documents, gradients without equal bits.
  kSdpa,   // LibTorch's memory-efficient attention: a GPU. Neither window nor documents, gradients
           // without equal bits.
  kManual,  // Matrix products and a softmax in the compute type: all devices, types and limits.
};

// Keys that are seen, and the code that computes. Both passes have the same form.
struct AttentionForm {
  AttentionLimits limits = {};
  AttentionKernel kernel = AttentionKernel::kAuto;
};

// out = softmax(q k^T / sqrt(head_size)) v where position t sees positions 0..t, or fewer by the
// limits.
// packed: rows of rotated queries and keys, and values (attention_heads.h); out: [batch, length,
// query_heads, head_size]. Returns what the backward pass needs besides these two: the weights of
// the softmax in the compute type, or the logarithms of its sums from a fused kernel.
torch::Tensor AttentionForward(const torch::Tensor& packed, const AttentionHeads& heads,
                               torch::Tensor& out, const AttentionForm& form = {});

// Of the forward pass.
struct AttentionKept {
  const torch::Tensor& packed;
  const torch::Tensor& out;
  const torch::Tensor& softmax;  // The result of AttentionForward.
  AttentionForm form = {};
};

// A gradient that has the same bits in every run, or may not. Of cuDNN: with kNo it adds in the
// order in which its blocks happen to finish, and needs less memory. kFlash and kSdpa take kNo
// only.
enum class Reproducible { kYes, kNo };

// Writes every element of d_packed, the gradient of packed.
void AttentionBackward(const torch::Tensor& dout, const AttentionKept& kept,
                       const AttentionHeads& heads, Reproducible reproducible,
                       torch::Tensor& d_packed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_H_
