// Token dispatch that sends each row to the rank of its expert.
#ifndef TRAINYARD_TRAINER_MODEL_ALL_TO_ALL_DISPATCH_H_
#define TRAINYARD_TRAINER_MODEL_ALL_TO_ALL_DISPATCH_H_

#include "trainer/model/token_dispatch.h"

namespace trainyard::trainer {

// If experts are divided into parts, each part is like an expert of a smaller width: a row goes to
// the ranks of all parts, and the results of the parts are added like those of different experts.
class AllToAllDispatch final : public TokenDispatch {
 public:
  explicit AllToAllDispatch(const ExpertParallel& parallel) : parallel_(parallel) {}

  HostTensor CountsOfRanks(const torch::Tensor& counts) const override;
  DispatchPlan Plan(const ExpertChoice& choice) const override;
  torch::Tensor Send(const torch::Tensor& x, const DispatchPlan& plan) const override;
  torch::Tensor Return(const torch::Tensor& rows, const DispatchPlan& plan,
                       const torch::Tensor& residual) const override;
  torch::Tensor SendWeights(const torch::Tensor& weights, const DispatchPlan& plan) const override;
  torch::Tensor ReturnWeights(const torch::Tensor& row_weights,
                              const DispatchPlan& plan) const override;

 private:
  torch::Tensor PartsOf(const torch::Tensor& experts, int64_t experts_here) const;
  // Exchange rows, and sort those that arrived by expert; and back.
  torch::Tensor Exchange(const torch::Tensor& rows, const DispatchPlan& plan) const;
  torch::Tensor ExchangeBack(const torch::Tensor& rows, const DispatchPlan& plan) const;

  const ExpertParallel parallel_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ALL_TO_ALL_DISPATCH_H_
