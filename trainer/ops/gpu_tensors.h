// Converts GPU tensors to kernel arguments: pointers, types and the stream. Used only in builds
// with CUDA.
#ifndef TRAINYARD_TRAINER_OPS_GPU_TENSORS_H_
#define TRAINYARD_TRAINER_OPS_GPU_TENSORS_H_

#include <c10/cuda/CUDAStream.h>
#include <torch/utils.h>

#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::gpu {

inline cudaStream_t Stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

inline kernels::ElementType TypeOf(const torch::Tensor& tensor) {
  if (tensor.scalar_type() == torch::kBFloat16) return kernels::ElementType::kBFloat16;
  return tensor.scalar_type() == torch::kHalf ? kernels::ElementType::kFloat16
                                              : kernels::ElementType::kFloat32;
}

inline int64_t Rows(const torch::Tensor& tensor) { return tensor.numel() / tensor.size(-1); }

// Returns null for an undefined tensor.
inline void* AddressOf(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr() : nullptr;
}

// Most kernels ignore strides, so their tensors must be contiguous.
template <typename... Tensors>
void CheckContiguous(const Tensors&... tensors) {
  TORCH_CHECK((tensors.is_contiguous() && ...), "this kernel needs contiguous tensors");
}

// Returns temporary memory. When the tensor is released, the next operation on the same stream can
// reuse the memory.
inline torch::Tensor Workspace(size_t bytes, const torch::Tensor& like) {
  return torch::empty({static_cast<int64_t>(bytes)}, like.options().dtype(torch::kUInt8));
}

}  // namespace trainyard::trainer::gpu

#endif  // TRAINYARD_TRAINER_OPS_GPU_TENSORS_H_
