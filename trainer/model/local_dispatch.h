// Token dispatch without an exchange of rows.
#ifndef TRAINYARD_TRAINER_MODEL_LOCAL_DISPATCH_H_
#define TRAINYARD_TRAINER_MODEL_LOCAL_DISPATCH_H_

#include "trainer/model/token_dispatch.h"

namespace trainyard::trainer {

// All experts are on this rank.
class LocalDispatch final : public TokenDispatch {
 public:
  HostTensor CountsOfRanks(const torch::Tensor& counts) const override;
  DispatchPlan Plan(const ExpertChoice& choice) const override;
  torch::Tensor Send(const torch::Tensor& x, const DispatchPlan& plan) const override;
  torch::Tensor Return(const torch::Tensor& rows, const DispatchPlan& plan,
                       const torch::Tensor& residual) const override;
  torch::Tensor SendWeights(const torch::Tensor& weights, const DispatchPlan& plan) const override;
  torch::Tensor ReturnWeights(const torch::Tensor& row_weights,
                              const DispatchPlan& plan) const override;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_LOCAL_DISPATCH_H_
