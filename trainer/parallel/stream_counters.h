// Counters in host memory that a GPU writes when it reaches a point of a stream.
#ifndef TRAINYARD_TRAINER_PARALLEL_STREAM_COUNTERS_H_
#define TRAINYARD_TRAINER_PARALLEL_STREAM_COUNTERS_H_

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

#include "trainer/parallel/device/stream_values.h"
#include "trainer/parallel/interruption/operation_watch.h"

namespace trainyard::trainer {

// Belongs to the device that is current at construction. All writes must have completed before
// destruction. Not thread-safe, except counters(). Methods throw TrainerError(kInternal).
class StreamCounters {
 public:
  StreamCounters();
  ~StreamCounters();
  StreamCounters(const StreamCounters&) = delete;
  StreamCounters& operator=(const StreamCounters&) = delete;

  // The device will set a counter to `operation` when it has done the work queued on the stream so
  // far.
  void Enter(cudaStream_t stream, uint32_t operation);
  void Leave(cudaStream_t stream, uint32_t operation);

  const OperationCounters& counters() const { return *counters_; }

 private:
  void Write(cudaStream_t stream, const std::atomic<uint32_t>& counter, uint32_t value);

  const StreamValues values_;
  OperationCounters* counters_ = nullptr;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_STREAM_COUNTERS_H_
