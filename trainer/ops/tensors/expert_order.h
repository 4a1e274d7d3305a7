// The order of rows sorted by expert.
#ifndef TRAINYARD_TRAINER_OPS_TENSORS_EXPERT_ORDER_H_
#define TRAINYARD_TRAINER_OPS_TENSORS_EXPERT_ORDER_H_

#include <torch/types.h>

namespace trainyard::trainer {

struct ExpertOrder {
  torch::Tensor tokens;  // int64 [tokens * topk]: the token of each sorted row.
  torch::Tensor places;  // int64 [tokens, topk]: the sorted row of each slot.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TENSORS_EXPERT_ORDER_H_
