// Reports CUDA errors as exceptions.
#ifndef TRAINYARD_TRAINER_KERNELS_CUDA_CHECK_H_
#define TRAINYARD_TRAINER_KERNELS_CUDA_CHECK_H_

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace trainyard::trainer::kernels {

// Thrown if a call of CUDA, cuBLAS or cuDNN fails, or if a kernel does not support the given shape.
class KernelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown if cuDNN has no plan for an operation of this shape on this GPU.
class UnsupportedShape : public KernelError {
 public:
  using KernelError::KernelError;
};

// Throws KernelError if `result` is an error. `operation` is the name of the call, for the message.
inline void CheckCuda(cudaError_t result, const char* operation) {
  if (result == cudaSuccess) return;
  throw KernelError(std::string(operation) + ": " + cudaGetErrorString(result));
}

// Must be called after each kernel launch. Reports launch errors, such as an invalid grid or a
// kernel that was not built for this GPU.
inline void CheckLaunch(const char* kernel) { CheckCuda(cudaGetLastError(), kernel); }

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_CUDA_CHECK_H_
