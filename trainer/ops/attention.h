// Causal self-attention with grouped queries.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_H_

#include <torch/types.h>

#include "trainer/ops/attention_heads.h"
#include "trainer/ops/visible_keys.h"

namespace trainyard::trainer {

// Implementations of attention.
enum class AttentionKernel {
  kAuto,    // kCudnn for bf16 on a GPU without documents, else kManual.
  kCudnn,   // Fused cuDNN graph: bf16 on a GPU. Documents by a bias.
  kFlash,   // LibTorch's flash attention: bf16 on a GPU. No documents; not reproducible.
  kSdpa,    // LibTorch's memory-efficient attention: GPU. No window or documents. Not reproducible.
  kManual,  // Matrix products and a softmax in the compute type: all devices, types, limits.
};

// Visible keys and the implementation; the same for both passes.
struct AttentionForm {
  AttentionLimits limits = {};
  AttentionKernel kernel = AttentionKernel::kAuto;
};

// out = softmax(q k^T / sqrt(head_size)) v, where position t sees positions 0..t, restricted by the
// limits. packed: rows of rotated queries and keys, and values (attention_heads.h). out: [batch,
// length, query_heads, head_size]. Returns what the backward pass needs besides these two: the
// softmax weights in the compute type, or the logarithms of the softmax sums from a fused kernel.
torch::Tensor AttentionForward(const torch::Tensor& packed, const AttentionHeads& heads,
                               torch::Tensor& out, const AttentionForm& form = {});

// Tensors of the forward pass.
struct AttentionKept {
  const torch::Tensor& packed;
  const torch::Tensor& out;
  const torch::Tensor& softmax;  // The result of AttentionForward.
  AttentionForm form = {};
};

// Requirement that gradients have the same bits in every run. With kNo, cuDNN adds in the order in
// which its blocks finish and needs less memory. kFlash and kSdpa support only kNo.
enum class Reproducible { kYes, kNo };

// Writes every element of d_packed, the gradient of packed.
void AttentionBackward(const torch::Tensor& dout, const AttentionKept& kept,
                       const AttentionHeads& heads, Reproducible reproducible,
                       torch::Tensor& d_packed);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_H_
