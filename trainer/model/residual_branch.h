// The inside of one half of a block: residual + f(x), where x is the normalised residual stream.
#ifndef TRAINYARD_TRAINER_MODEL_RESIDUAL_BRANCH_H_
#define TRAINYARD_TRAINER_MODEL_RESIDUAL_BRANCH_H_

#include <torch/types.h>

#include "trainer/model/micro_batch.h"
#include "trainer/model/weight_gradients.h"

namespace trainyard::trainer {

// Every family's block is x + f(norm(x)) twice; only f differs. The contract that schedules and
// layouts build on: Forward keeps in the micro-batch's stash what Backward will need, Backward
// returns the input's gradient and hands weight gradients over. x, residual, dy and the results are
// [rows, hidden] and contiguous.
class ResidualBranch {
 public:
  virtual ~ResidualBranch() = default;

  // residual + f(x).
  virtual torch::Tensor Forward(const torch::Tensor& x, const torch::Tensor& residual,
                                MicroBatch& micro_batch) const = 0;

  // The gradient of x alone: the caller adds dy for the residual. x: as in Forward, whose caller
  // keeps it or computes it again.
  virtual torch::Tensor Backward(const torch::Tensor& dy, const torch::Tensor& x,
                                 MicroBatch& micro_batch, WeightGradients& gradients) const = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_RESIDUAL_BRANCH_H_
