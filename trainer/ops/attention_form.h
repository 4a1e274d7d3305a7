// Implementation, limits and kept tensors of attention.
#ifndef TRAINYARD_TRAINER_OPS_ATTENTION_FORM_H_
#define TRAINYARD_TRAINER_OPS_ATTENTION_FORM_H_

#include <torch/types.h>

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

// Tensors of AttentionForward.
struct AttentionKept {
  const torch::Tensor& packed;
  const torch::Tensor& out;
  const torch::Tensor& softmax;  // The result of AttentionForward.
  AttentionForm form = {};
};

// Requirement that gradients have the same bits in every run. With kNo, cuDNN adds in the order in
// which its blocks finish and needs less memory. kFlash and kSdpa support only kNo.
enum class Reproducible { kYes, kNo };

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_ATTENTION_FORM_H_
