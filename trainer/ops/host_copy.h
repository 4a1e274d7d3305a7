// Copies in host memory of tensors on a device.
#ifndef TRAINYARD_TRAINER_OPS_HOST_COPY_H_
#define TRAINYARD_TRAINER_OPS_HOST_COPY_H_

#include <torch/types.h>

#include <functional>

namespace trainyard::trainer {

struct HostTensor {
  torch::Tensor values;        // In host memory. Read it only after `wait`.
  std::function<void()> wait;  // Returns when `values` is complete. Empty if it is complete.
};

// Queues a copy of `source` on the current stream. Work that is queued between this call and `wait`
// keeps the device busy while the host waits.
HostTensor BeginHostCopy(const torch::Tensor& source);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_HOST_COPY_H_
