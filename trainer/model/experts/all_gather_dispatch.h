// Token dispatch that sends all rows to all ranks.
#ifndef TRAINYARD_TRAINER_MODEL_EXPERTS_ALL_GATHER_DISPATCH_H_
#define TRAINYARD_TRAINER_MODEL_EXPERTS_ALL_GATHER_DISPATCH_H_

#include "trainer/model/experts/token_dispatch.h"
#include "trainer/model/parallel/expert_parallel.h"

namespace trainyard::trainer {

// Every rank gathers the rows of all ranks and computes the rows of its own experts. For each
// token, it adds the results of its experts and sends the sum back to the token's rank. That rank
// adds the sums of all ranks in rank order.
class AllGatherDispatch final : public TokenDispatch {
 public:
  explicit AllGatherDispatch(const ExpertParallel& parallel) : parallel_(parallel) {}

  void ShareCounts(ExpertChoice& choice) const override;
  DispatchPlan Plan(const ExpertChoice& choice) const override;
  PendingRows BeginSend(const WeightedRows& tokens, const DispatchPlan& plan) const override;
  WeightedRows FinishSend(PendingRows sent, const DispatchPlan& plan) const override;
  PendingRows BeginReturn(const WeightedRows& rows, const DispatchPlan& plan) const override;
  WeightedRows FinishReturn(PendingRows returned, const DispatchPlan& plan,
                            const torch::Tensor& residual) const override;

 private:
  PendingTensor BeginGather(const torch::Tensor& rows) const;
  // Sends each rank its own rows. The result has the rows from all ranks, [ranks * tokens,
  // width].
  PendingTensor BeginSendBack(const torch::Tensor& rows) const;

  const ExpertParallel parallel_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERTS_ALL_GATHER_DISPATCH_H_
