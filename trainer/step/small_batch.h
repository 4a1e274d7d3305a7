// The gradient norm of a small batch, for the gradient noise scale.
#ifndef TRAINYARD_TRAINER_STEP_SMALL_BATCH_H_
#define TRAINYARD_TRAINER_STEP_SMALL_BATCH_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "trainer/model/parameters/parameter_store.h"
#include "trainer/parallel/rank_groups.h"

namespace trainyard::trainer {

// The small batch of a data-parallel rank is its first micro-batch of a step, because in every ZeRO
// stage the gradients of the first micro-batch can be measured before others are added. The parts
// of tensor- and context-parallel ranks are summed in a copy. Not thread-safe. All arguments must
// outlive this object.
class SmallBatch {
 public:
  // shared_embedding: the parameter group that the first and the last stage share; -1 if there is
  // none.
  SmallBatch(ParameterStore& store, const RankGroups& groups, int64_t shared_embedding);

  // Measures the gradients of a group. Must be called when the first micro-batch has finished the
  // group, before the gradients change.
  void Measure(int64_t group);

  // Sets kSmallBatchSquares of `step_values` to the sum of squares that this rank counts. Summed
  // over all ranks, these values are the sum over all small batches of their squared norms. Must be
  // called after all groups have been measured.
  void Finish(torch::Tensor& step_values);

 private:
  void SumSquares(int64_t group, const torch::Tensor& gradients);

  ParameterStore& store_;
  const RankGroups& groups_;
  const int64_t shared_embedding_;
  torch::Tensor shared_gradients_;      // A copy of their gradients, kept until Finish.
  torch::Tensor all_squares_;           // fp64, one per counted range of each group.
  std::vector<torch::Tensor> squares_;  // By group: its part of all_squares_.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_SMALL_BATCH_H_
