#include "trainer/model/local_dispatch.h"

#include "trainer/model/slot_rows.h"

namespace trainyard::trainer {

using torch::Tensor;

HostTensor LocalDispatch::CountsOfRanks(const Tensor& counts) const {
  return BeginHostCopy(counts.unsqueeze(0));
}

DispatchPlan LocalDispatch::Plan(const ExpertChoice& choice) const {
  DispatchPlan plan;
  plan.order = SortByExpert(choice.experts);  // Keeps the device busy while the host waits.
  const Tensor& counts = choice.HostCounts();
  const int64_t* data = counts.data_ptr<int64_t>();
  plan.segments = RowSegments(data, data + counts.numel());
  plan.order.tokens = plan.order.tokens.narrow(0, 0, counts.sum().item<int64_t>());
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
