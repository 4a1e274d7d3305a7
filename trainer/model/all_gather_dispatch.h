// Token dispatch that sends all rows to all ranks.
#ifndef TRAINYARD_TRAINER_MODEL_ALL_GATHER_DISPATCH_H_
#define TRAINYARD_TRAINER_MODEL_ALL_GATHER_DISPATCH_H_

#include "trainer/model/token_dispatch.h"

namespace trainyard::trainer {

// Every rank gathers the rows of all ranks and computes those of its experts. It adds the results
// of its experts for each token, and sends the sums back to the token's rank, which adds the sums
// of all ranks in their order.
class AllGatherDispatch final : public TokenDispatch {
 public:
  explicit AllGatherDispatch(const ExpertParallel& parallel) : parallel_(parallel) {}

  HostTensor CountsOfRanks(const torch::Tensor& counts) const override;
  DispatchPlan Plan(const ExpertChoice& choice) const override;
  torch::Tensor Send(const torch::Tensor& x, const DispatchPlan& plan) const override;
  torch::Tensor Return(const torch::Tensor& rows, const DispatchPlan& plan,
                       const torch::Tensor& residual) const override;
  torch::Tensor SendWeights(const torch::Tensor& weights, const DispatchPlan& plan) const override;
  torch::Tensor ReturnWeights(const torch::Tensor& row_weights,
                              const DispatchPlan& plan) const override;

 private:
  torch::Tensor Gather(const torch::Tensor& rows) const;
  // Sends the rows of each rank to it. Returns the rows from all ranks, [ranks * tokens, width].
  torch::Tensor SendBack(const torch::Tensor& rows) const;

  const ExpertParallel parallel_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ALL_GATHER_DISPATCH_H_
