#include "trainer/model/experts/local_dispatch.h"

#include <utility>

#include "trainer/model/experts/slot_rows.h"
#include "trainer/ops/host_copy.h"

namespace trainyard::trainer {

using torch::Tensor;

void LocalDispatch::ShareCounts(ExpertChoice& choice) const {
  HostTensor copy = BeginHostCopy(choice.counts.unsqueeze(0));
  choice.counts = copy.values;
  choice.wait_for_counts = [copy = std::move(copy)] { copy.Wait(); };
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

PendingRows LocalDispatch::BeginSend(const WeightedRows& tokens, const DispatchPlan& plan) const {
  const Tensor& weights = tokens.weights;
  return {{RowsOfTokens(tokens.values, plan.order), Work()},
          {weights.defined() ? RowsOfSlots(weights, plan.order) : weights, Work()}};
}

WeightedRows LocalDispatch::FinishSend(PendingRows sent, const DispatchPlan& /*plan*/) const {
  return {sent.values.Get(), sent.weights.Get()};
}

PendingRows LocalDispatch::BeginReturn(const WeightedRows& rows,
                                       const DispatchPlan& /*plan*/) const {
  return {{rows.values, Work()}, {rows.weights, Work()}};
}

WeightedRows LocalDispatch::FinishReturn(PendingRows returned, const DispatchPlan& plan,
                                         const Tensor& residual) const {
  const Tensor weights = returned.weights.Get();
  return {SumOfRows(returned.values.Get(), plan.order, residual),
          weights.defined() ? SlotsOfRows(weights, plan.order) : weights};
}

}  // namespace trainyard::trainer
