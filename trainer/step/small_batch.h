// Norm of the gradient of a small batch beside that of the step, for the gradient noise scale.
#ifndef TRAINYARD_TRAINER_STEP_SMALL_BATCH_H_
#define TRAINYARD_TRAINER_STEP_SMALL_BATCH_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "trainer/model/parameter_store.h"
#include "trainer/parallel/rank_groups.h"

namespace trainyard::trainer {

// The small batch of a data-parallel rank is its first micro-batch of the step: its gradients exist
// before any other is added to them or to those of another rank, whatever ZeRO keeps. Parts of
// tensor- and context-parallel ranks are added in a copy. One thread at a time; everything given
// must outlive this.
class SmallBatch {
 public:
  // shared_embedding: a group that the first and the last stage have, or -1.
  SmallBatch(ParameterStore& store, const RankGroups& groups, int64_t shared_embedding);

  // To be called when the first micro-batch has finished a group, before anything else changes the
  // group's gradients.
  void Measure(int64_t group);

  // With all groups measured: sets kSmallBatchSquares of `step_values` to the sum of squares that
  // this rank counts. The sum over all ranks is that over the data-parallel ranks' small batches.
  void Finish(torch::Tensor& step_values);

 private:
  void SumSquares(int64_t group, const torch::Tensor& gradients);

  ParameterStore& store_;
  const RankGroups& groups_;
  const int64_t shared_embedding_;
  torch::Tensor shared_gradients_;      // A copy, until Finish.
  torch::Tensor all_squares_;           // fp64, of each counted range of each group.
  std::vector<torch::Tensor> squares_;  // By group: its part of that.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_SMALL_BATCH_H_
