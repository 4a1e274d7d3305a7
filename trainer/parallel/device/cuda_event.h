// CUDA events, which mark points of a stream. CUDA errors become TrainerError(kInternal).
#ifndef TRAINYARD_TRAINER_PARALLEL_DEVICE_CUDA_EVENT_H_
#define TRAINYARD_TRAINER_PARALLEL_DEVICE_CUDA_EVENT_H_

#include <cuda_runtime_api.h>

namespace trainyard::trainer {

// Throws TrainerError(kInternal) if `result` is an error. The message contains `operation`, the
// name of the CUDA call.
void CheckCuda(const char* operation, cudaError_t result);

// An event on the device that was current at construction. Not thread-safe.
class CudaEvent {
 public:
  CudaEvent();
  ~CudaEvent();
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  void Record(cudaStream_t stream);
  // True if the work that was queued before the latest Record is complete.
  bool IsReached() const;
  // Later work on the stream will wait until the latest Record is reached. Has no effect before the
  // first Record.
  void Block(cudaStream_t stream) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_DEVICE_CUDA_EVENT_H_
