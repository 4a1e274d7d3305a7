// CUDA errors as exceptions.
#ifndef TRAINYARD_TRAINER_KERNELS_CUDA_CHECK_H_
#define TRAINYARD_TRAINER_KERNELS_CUDA_CHECK_H_

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace trainyard::trainer::kernels {

// A call of CUDA, cuBLAS or cuDNN failed, or a kernel does not support the given shape.
class KernelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// cuDNN has no plan for an operation of this shape on this GPU.
class UnsupportedShape : public KernelError {
 public:
  using KernelError::KernelError;
};

// operation: name of the call, for the message.
inline void CheckCuda(cudaError_t result, const char* operation) {
  if (result == cudaSuccess) return;
  throw KernelError(std::string(operation) + ": " + cudaGetErrorString(result));
}

// Call after each kernel launch, to report errors such as a bad grid or a missing image.
inline void CheckLaunch(const char* kernel) { CheckCuda(cudaGetLastError(), kernel); }

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_CUDA_CHECK_H_
