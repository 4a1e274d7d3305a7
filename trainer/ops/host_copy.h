// Copies tensors of a device to host memory.
#ifndef TRAINYARD_TRAINER_OPS_HOST_COPY_H_
#define TRAINYARD_TRAINER_OPS_HOST_COPY_H_

#include <torch/types.h>

#include <functional>

namespace trainyard::trainer {

// Queues a copy of `source` on the device's current stream and returns the copy, in page-locked
// memory. Returns tensors in host memory and undefined tensors without copying them.
torch::Tensor QueueHostCopy(const torch::Tensor& source);

// Returns a function that returns true once all work queued so far on the device's current stream
// is complete. Returns an empty function for a CPU, because work on a CPU is complete.
std::function<bool()> CompletionOfQueue(torch::Device device);

// A tensor that is being copied to host memory.
struct HostTensor {
  torch::Tensor values;               // In host memory. Read it only once `is_complete` is true.
  std::function<bool()> is_complete;  // Empty if `values` is complete.

  // Returns when `values` is complete. Does not notice the loss of a peer. For values that depend
  // on other ranks, use Communicator::WaitUntil.
  void Wait() const;
};

// Queues a copy of `source` on the device's current stream. Work that is queued between this call
// and a wait keeps the device busy while the host waits.
HostTensor BeginHostCopy(const torch::Tensor& source);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_HOST_COPY_H_
