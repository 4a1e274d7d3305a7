// Values in memory that a GPU stream writes and waits for, without multiprocessors.
#ifndef TRAINYARD_TRAINER_PARALLEL_DEVICE_STREAM_VALUES_H_
#define TRAINYARD_TRAINER_PARALLEL_DEVICE_STREAM_VALUES_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace trainyard::trainer {

// `address` must be valid on the stream's device: device memory, or the device address of host
// memory that is registered with CUDA. Methods throw TrainerError(kInternal). Stateless after
// construction.
class StreamValues {
 public:
  StreamValues();

  // The device will write `value` when it has done the work queued on the stream so far. All
  // devices and the host then see the results of this work.
  void Write(cudaStream_t stream, CUdeviceptr address, uint32_t value) const;
  // Later work on the stream will wait until the value is `value` or one of the 2^31 - 1 values
  // after it. Values wrap around.
  void WaitFor(cudaStream_t stream, CUdeviceptr address, uint32_t value) const;

 private:
  using Function = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int);

  Function write_;
  Function wait_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_DEVICE_STREAM_VALUES_H_
