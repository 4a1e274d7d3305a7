#include "trainer/model/local_dispatch.h"

#include "trainer/model/slot_rows.h"

namespace trainyard::trainer {

using torch::Tensor;

Tensor LocalDispatch::CountsOfRanks(const Tensor& counts) const {
  return counts.to(torch::kCPU).unsqueeze(0);
}

DispatchPlan LocalDispatch::Plan(const ExpertChoice& choice) const {
  const int64_t* counts = choice.counts.data_ptr<int64_t>();
  DispatchPlan plan;
  plan.segments = RowSegments(counts, counts + choice.counts.numel());
  plan.order = OrderOfRows(choice.experts, choice.counts.sum().item<int64_t>());
  return plan;
}

Tensor LocalDispatch::Send(const Tensor& x, const DispatchPlan& plan) const {
  return RowsOfTokens(x, plan.order);
}

Tensor LocalDispatch::Return(const Tensor& rows, const DispatchPlan& plan,
                             const Tensor& residual) const {
  return SumOfRows(rows, plan.order, residual);
}

Tensor LocalDispatch::SendWeights(const Tensor& weights, const DispatchPlan& plan) const {
  return RowsOfSlots(weights, plan.order);
}

Tensor LocalDispatch::ReturnWeights(const Tensor& row_weights, const DispatchPlan& plan) const {
  return SlotsOfRows(row_weights, plan.order);
}

}  // namespace trainyard::trainer
