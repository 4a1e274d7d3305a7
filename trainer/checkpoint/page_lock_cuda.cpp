// Page-locking in a build with CUDA.
#include <cuda_runtime_api.h>

#include "trainer/checkpoint/page_lock.h"

namespace trainyard::trainer {

bool LockPages(void* memory, size_t bytes) {
  if (cudaHostRegister(memory, bytes, cudaHostRegisterDefault) == cudaSuccess) return true;
  cudaGetLastError();  // Or the next check of another call would report it.
  return false;
}

void UnlockPages(void* memory) { cudaHostUnregister(memory); }

}  // namespace trainyard::trainer
