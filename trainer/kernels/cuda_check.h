// Errors of CUDA calls as exceptions.
#ifndef TRAINYARD_TRAINER_KERNELS_CUDA_CHECK_H_
#define TRAINYARD_TRAINER_KERNELS_CUDA_CHECK_H_

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace trainyard::trainer::kernels {

// A call of CUDA, cuBLAS or cuDNN failed, or a kernel cannot take the shape it was given.
class KernelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// cuDNN has no plan for an operation of this shape on this GPU.
class UnsupportedShape : public KernelError {
 public:
  using KernelError::KernelError;
};

// operation: what was called, for the message.
inline void CheckCuda(cudaError_t result, const char* operation) {
  if (result == cudaSuccess) return;
  throw KernelError(std::string(operation) + ": " + cudaGetErrorString(result));
}

// Call after each kernel launch: a launch reports a bad grid or a missing image here.
inline void CheckLaunch(const char* kernel) { CheckCuda(cudaGetLastError(), kernel); }

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_CUDA_CHECK_H_
