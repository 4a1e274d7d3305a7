// Page-locking in a build with CUDA.
#include <cuda_runtime_api.h>

#include "trainer/checkpoint/page_lock.h"

namespace trainyard::trainer {

std::string LockPages(void* memory, size_t bytes) {
  const cudaError_t error = cudaHostRegister(memory, bytes, cudaHostRegisterDefault);
  if (error == cudaSuccess) return "";
  cudaGetLastError();  // Clears the error; otherwise a later, unrelated check reports it.
  return cudaGetErrorString(error);
}

// Ignores errors: the caller is a destructor, and nothing depends on the pages being unlocked.
void UnlockPages(void* memory) {
  if (cudaHostUnregister(memory) == cudaSuccess) return;
  cudaGetLastError();  // Clears the error; otherwise a later, unrelated check reports it.
}

}  // namespace trainyard::trainer
