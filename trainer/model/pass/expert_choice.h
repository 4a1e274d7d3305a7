// The experts that process the rows of a micro-batch in one layer.
#ifndef TRAINYARD_TRAINER_MODEL_PASS_EXPERT_CHOICE_H_
#define TRAINYARD_TRAINER_MODEL_PASS_EXPERT_CHOICE_H_

#include <torch/types.h>

#include <functional>

namespace trainyard::trainer {

struct ExpertChoice {
  // int64 [rows, topk]. Dropped slots are marked (ops/expert_capacity.h).
  torch::Tensor experts;
  // The number of rows that each rank sends to each expert, without dropped slots: int64 [ranks,
  // experts], in host memory, for the ranks that share experts. Before TokenDispatch::ShareCounts,
  // `counts` contains only the counts of this rank: [experts], on the device.
  torch::Tensor counts;
  // Returns when `counts` is complete. Empty if `counts` is already complete.
  std::function<void()> wait_for_counts = {};

  // Waits for the counts, if necessary, and returns them. Throws TrainerError(kPeerLost) if a rank
  // that shares experts is lost or has left the gang, because the counts are then invalid.
  const torch::Tensor& HostCounts() const {
    if (wait_for_counts) wait_for_counts();
    return counts;
  }
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PASS_EXPERT_CHOICE_H_
