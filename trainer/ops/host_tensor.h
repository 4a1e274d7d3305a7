// A tensor that is on its way to host memory.
#ifndef TRAINYARD_TRAINER_OPS_HOST_TENSOR_H_
#define TRAINYARD_TRAINER_OPS_HOST_TENSOR_H_

#include <torch/types.h>

#include <functional>

namespace trainyard::trainer {

struct HostTensor {
  torch::Tensor values;        // In host memory. Read it only after `wait`.
  std::function<void()> wait;  // Returns when `values` is complete. Empty if it is complete.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_HOST_TENSOR_H_
