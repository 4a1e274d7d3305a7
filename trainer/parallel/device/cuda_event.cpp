#include "trainer/parallel/device/cuda_event.h"

#include <string>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

void CheckCuda(const char* operation, cudaError_t result) {
  if (result == cudaSuccess) return;
  throw TrainerError(ExitCode::kInternal,
                     std::string(operation) + " failed: " + cudaGetErrorString(result) + ".");
}

CudaEvent::CudaEvent() {
  CheckCuda("cudaEventCreate", cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
}

// Ignores errors, because a destructor cannot report them. Such errors would come from earlier work
// on the device.
CudaEvent::~CudaEvent() { static_cast<void>(cudaEventDestroy(event_)); }

void CudaEvent::Record(cudaStream_t stream) {
  CheckCuda("cudaEventRecord", cudaEventRecord(event_, stream));
}

bool CudaEvent::IsReached() const {
  const cudaError_t state = cudaEventQuery(event_);
  if (state == cudaErrorNotReady) {
    cudaGetLastError();  // Clears the error; otherwise a later, unrelated check reports it.
    return false;
  }
  CheckCuda("cudaEventQuery", state);
  return true;
}

void CudaEvent::Block(cudaStream_t stream) const {
  CheckCuda("cudaStreamWaitEvent", cudaStreamWaitEvent(stream, event_, 0));
}

}  // namespace trainyard::trainer
