// Gradient norm of a small batch, for the gradient noise scale.
#ifndef TRAINYARD_TRAINER_STEP_SMALL_BATCH_H_
#define TRAINYARD_TRAINER_STEP_SMALL_BATCH_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "trainer/model/parameter_store.h"
#include "trainer/parallel/rank_groups.h"

namespace trainyard::trainer {

// The small batch of a data-parallel rank is its first micro-batch of the step. Its gradients exist
// before any others are added, in every ZeRO stage. Parts of tensor- and context-parallel ranks are
// added in a copy. Not thread-safe; all arguments must outlive this.
class SmallBatch {
 public:
  // shared_embedding: group shared by the first and last stages, or -1.
  SmallBatch(ParameterStore& store, const RankGroups& groups, int64_t shared_embedding);

  // Call when the first micro-batch has finished a group, before its gradients change.
  void Measure(int64_t group);

  // Sets kSmallBatchSquares of `step_values` to the sum of squares counted by this rank. Call it
  // after measuring all groups. The sum over all ranks is that over the small batches of all
  // data-parallel ranks.
  void Finish(torch::Tensor& step_values);

 private:
  void SumSquares(int64_t group, const torch::Tensor& gradients);

  ParameterStore& store_;
  const RankGroups& groups_;
  const int64_t shared_embedding_;
  torch::Tensor shared_gradients_;      // A copy, kept until Finish.
  torch::Tensor all_squares_;           // fp64, for each counted range of each group.
  std::vector<torch::Tensor> squares_;  // By group: its part of all_squares_.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_SMALL_BATCH_H_
