// Activations of a feed-forward layer without a gate, and their gradients: GELU and its tanh
// approximation (Hendrycks and Gimpel 2016, arXiv 1606.08415), squared ReLU (So et al. 2021, arXiv
// 2109.08668).
#ifndef TRAINYARD_TRAINER_KERNELS_UNGATED_ACTIVATION_H_
#define TRAINYARD_TRAINER_KERNELS_UNGATED_ACTIVATION_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

enum class UngatedActivation { kGelu, kGeluTanh, kSquaredRelu };

struct UngatedForwardArguments {
  const void* x = nullptr;  // [count] of `type`
  void* out = nullptr;      // [count] of `type`; may be x
  int64_t count = 0;
  UngatedActivation activation = UngatedActivation::kGelu;
  ElementType type = ElementType::kBFloat16;
};

void UngatedForward(const UngatedForwardArguments& arguments, cudaStream_t stream);

struct UngatedBackwardArguments {
  const void* dout = nullptr;  // [count] of `type`
  const void* x = nullptr;     // [count] of `type`
  void* dx = nullptr;          // [count] of `type`; may be dout or x
  void* out = nullptr;         // [count] of `type`: recomputed forward result, or null
  int64_t count = 0;
  UngatedActivation activation = UngatedActivation::kGelu;
  ElementType type = ElementType::kBFloat16;
};

void UngatedBackward(const UngatedBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_UNGATED_ACTIVATION_H_
