// Events of CUDA streams, and errors of CUDA calls as TrainerError(kInternal).
#ifndef TRAINYARD_TRAINER_PARALLEL_CUDA_EVENT_H_
#define TRAINYARD_TRAINER_PARALLEL_CUDA_EVENT_H_

#include <cuda_runtime_api.h>

namespace trainyard::trainer {

// operation: what was called, for the message.
void CheckCuda(const char* operation, cudaError_t result);

// Of the device that is current when it is made. One thread at a time.
class CudaEvent {
 public:
  CudaEvent();
  ~CudaEvent();
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  void Record(cudaStream_t stream);
  // True when the work that was queued before the newest Record is done.
  bool IsReached() const;
  // Work that is queued on the stream from now on waits for the newest Record, if there is one.
  void HoldBack(cudaStream_t stream) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_CUDA_EVENT_H_
