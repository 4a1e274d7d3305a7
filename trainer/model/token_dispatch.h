// Sends rows to the ranks of their experts and returns the results.
#ifndef TRAINYARD_TRAINER_MODEL_TOKEN_DISPATCH_H_
#define TRAINYARD_TRAINER_MODEL_TOKEN_DISPATCH_H_

#include <torch/types.h>

#include "trainer/model/expert_choice.h"
#include "trainer/ops/grouped_linear.h"
#include "trainer/ops/permute.h"

namespace trainyard::trainer {

// The ways of the rows of one micro-batch in one layer.
struct DispatchPlan {
  ExpertOrder order;
  RowSegments segments;  // The rows of each of this rank's experts after Send.
};

// Send and Return are each other's gradients, and so are SendWeights and ReturnWeights. All ranks
// that share experts must call them in the same order, also a rank without rows.
class TokenDispatch {
 public:
  virtual ~TokenDispatch() = default;

  virtual DispatchPlan Plan(const ExpertChoice& choice) const = 0;

  // Returns the rows of x, [tokens, width], that this rank's experts process, sorted by expert.
  virtual torch::Tensor Send(const torch::Tensor& x, const DispatchPlan& plan) const = 0;
  // Returns residual + the sum of each token's rows: [tokens, width]. `residual` may be undefined.
  virtual torch::Tensor Return(const torch::Tensor& rows, const DispatchPlan& plan,
                               const torch::Tensor& residual) const = 0;

  // Converts weights [tokens, topk] to the weights of the sorted rows, [rows], and back. Returns 0
  // for dropped slots.
  virtual torch::Tensor SendWeights(const torch::Tensor& weights,
                                    const DispatchPlan& plan) const = 0;
  virtual torch::Tensor ReturnWeights(const torch::Tensor& row_weights,
                                      const DispatchPlan& plan) const = 0;
};

// All experts are on this rank.
class LocalDispatch final : public TokenDispatch {
 public:
  DispatchPlan Plan(const ExpertChoice& choice) const override;
  torch::Tensor Send(const torch::Tensor& x, const DispatchPlan& plan) const override;
  torch::Tensor Return(const torch::Tensor& rows, const DispatchPlan& plan,
                       const torch::Tensor& residual) const override;
  torch::Tensor SendWeights(const torch::Tensor& weights, const DispatchPlan& plan) const override;
  torch::Tensor ReturnWeights(const torch::Tensor& row_weights,
                              const DispatchPlan& plan) const override;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_TOKEN_DISPATCH_H_
