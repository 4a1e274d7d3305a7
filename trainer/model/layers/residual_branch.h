// One half of a block: residual + f(x), where x is the normalized residual stream.
#ifndef TRAINYARD_TRAINER_MODEL_LAYERS_RESIDUAL_BRANCH_H_
#define TRAINYARD_TRAINER_MODEL_LAYERS_RESIDUAL_BRANCH_H_

#include <torch/types.h>

#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/model/pass/micro_batch.h"

namespace trainyard::trainer {

// The function f of one half of a block. In every model family, a block is x + f(norm(x)) twice;
// only f differs. The code that schedules micro-batches relies on this contract: Forward keeps the
// tensors that Backward needs in the stash of the micro-batch. Backward returns the gradient of the
// input and passes the gradients of weights to `gradients`. x, residual, dy and the results are
// [rows, hidden] and contiguous.
class ResidualBranch {
 public:
  virtual ~ResidualBranch() = default;

  // Returns residual + f(x).
  virtual torch::Tensor Forward(const torch::Tensor& x, const torch::Tensor& residual,
                                MicroBatch& micro_batch) const = 0;

  // Returns the gradient of x only; the caller adds dy for the residual. `x` must have the value
  // that it had in Forward, whether the caller kept it or recomputed it.
  virtual torch::Tensor Backward(const torch::Tensor& dy, const torch::Tensor& x,
                                 MicroBatch& micro_batch, WeightGradients& gradients) const = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_LAYERS_RESIDUAL_BRANCH_H_
