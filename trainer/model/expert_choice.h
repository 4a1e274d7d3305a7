// The experts that process the rows of a micro-batch in one layer.
#ifndef TRAINYARD_TRAINER_MODEL_EXPERT_CHOICE_H_
#define TRAINYARD_TRAINER_MODEL_EXPERT_CHOICE_H_

#include <torch/types.h>

namespace trainyard::trainer {

struct ExpertChoice {
  // int64 [rows, topk]. Dropped slots are marked (ops/expert_capacity.h).
  torch::Tensor experts;
  // int64 [ranks, experts], in host memory: the number of rows that each of the ranks that share
  // experts sends to each expert, without dropped slots. Before TokenDispatch::CountsOfRanks: those
  // of this rank, [experts], on the device.
  torch::Tensor counts;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERT_CHOICE_H_
