// Copies in host memory of tensors on a device.
#ifndef TRAINYARD_TRAINER_OPS_HOST_COPY_H_
#define TRAINYARD_TRAINER_OPS_HOST_COPY_H_

#include <torch/types.h>

#include "trainer/ops/host_tensor.h"

namespace trainyard::trainer {

// Queues a copy of `source` on the current stream. Work that is queued between this call and `wait`
// keeps the device busy while the host waits.
HostTensor BeginHostCopy(const torch::Tensor& source);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_HOST_COPY_H_
