// Token dispatch that sends each row to the rank of its expert.
#ifndef TRAINYARD_TRAINER_MODEL_EXPERTS_ALL_TO_ALL_DISPATCH_H_
#define TRAINYARD_TRAINER_MODEL_EXPERTS_ALL_TO_ALL_DISPATCH_H_

#include "trainer/model/experts/token_dispatch.h"
#include "trainer/model/parallel/expert_parallel.h"

namespace trainyard::trainer {

// If experts are divided into parts, each part is like an expert of a smaller width: a row goes to
// the ranks of all parts, and the parts' results are added like the results of different experts.
class AllToAllDispatch final : public TokenDispatch {
 public:
  explicit AllToAllDispatch(const ExpertParallel& parallel) : parallel_(parallel) {}

  void ShareCounts(ExpertChoice& choice) const override;
  DispatchPlan Plan(const ExpertChoice& choice) const override;
  PendingRows BeginSend(const WeightedRows& tokens, const DispatchPlan& plan) const override;
  WeightedRows FinishSend(PendingRows sent, const DispatchPlan& plan) const override;
  PendingRows BeginReturn(const WeightedRows& rows, const DispatchPlan& plan) const override;
  WeightedRows FinishReturn(PendingRows returned, const DispatchPlan& plan,
                            const torch::Tensor& residual) const override;

 private:
  torch::Tensor PartsOf(const torch::Tensor& experts, int64_t experts_here) const;
  // Exchanges rows, [rows, width].
  PendingTensor BeginExchange(const torch::Tensor& rows, const std::vector<int64_t>& received,
                              const std::vector<int64_t>& sent) const;

  const ExpertParallel parallel_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERTS_ALL_TO_ALL_DISPATCH_H_
