// Tensors of a copy of heads.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_HEAD_COPY_TENSORS_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_HEAD_COPY_TENSORS_H_

#include <torch/types.h>

namespace trainyard::trainer {

// Two tensors of equal type and sizes, [samples, length, heads, head size], with any strides. The
// elements of a head have no gaps.
struct HeadCopy {
  torch::Tensor from;
  torch::Tensor to;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_HEAD_COPY_TENSORS_H_
