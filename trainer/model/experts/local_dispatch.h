// Token dispatch without an exchange of rows.
#ifndef TRAINYARD_TRAINER_MODEL_EXPERTS_LOCAL_DISPATCH_H_
#define TRAINYARD_TRAINER_MODEL_EXPERTS_LOCAL_DISPATCH_H_

#include "trainer/model/experts/token_dispatch.h"

namespace trainyard::trainer {

// All experts are on this rank.
class LocalDispatch final : public TokenDispatch {
 public:
  void ShareCounts(ExpertChoice& choice) const override;
  DispatchPlan Plan(const ExpertChoice& choice) const override;
  PendingRows BeginSend(const WeightedRows& tokens, const DispatchPlan& plan) const override;
  WeightedRows FinishSend(PendingRows sent, const DispatchPlan& plan) const override;
  PendingRows BeginReturn(const WeightedRows& rows, const DispatchPlan& plan) const override;
  WeightedRows FinishReturn(PendingRows returned, const DispatchPlan& plan,
                            const torch::Tensor& residual) const override;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERTS_LOCAL_DISPATCH_H_
