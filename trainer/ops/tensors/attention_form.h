// The implementations of attention, their limits, and the tensors kept for the backward pass.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_ATTENTION_FORM_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_ATTENTION_FORM_H_

#include <torch/types.h>

#include "trainer/ops/tensors/visible_keys.h"

namespace trainyard::trainer {

// Implementations of attention.
enum class AttentionKernel {
  kAuto,    // kCudnn for bf16 on a GPU without document masks, else kManual.
  kCudnn,   // Fused cuDNN graph: bf16 on a GPU. Masks documents with a bias.
  kFlash,   // LibTorch's flash attention: bf16 on a GPU. No documents; not reproducible.
  kSdpa,    // LibTorch's memory-efficient attention: GPU. No window or documents; not reproducible.
  kManual,  // Matrix products and softmax in the compute type. Any device, type and limit.
};

// The visible keys and the implementation. The forward and the backward pass must use the same
// form.
struct AttentionForm {
  AttentionLimits limits = {};
  AttentionKernel kernel = AttentionKernel::kAuto;
};

// Tensors of AttentionForward.
struct AttentionKept {
  const torch::Tensor& packed;
  const torch::Tensor& out;
  const torch::Tensor& softmax;  // The tensor returned by AttentionForward.
  AttentionForm form = {};
};

// kYes: the gradients have the same bits in every run. With kNo, cuDNN needs less memory, but adds
// in the order in which its thread blocks finish. kFlash and kSdpa support only kNo.
enum class Reproducible { kYes, kNo };

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_ATTENTION_FORM_H_
