#include "trainer/model/token_dispatch.h"

namespace trainyard::trainer {

using torch::Tensor;

DispatchPlan LocalDispatch::Plan(const ExpertChoice& choice) const {
  const int64_t* counts = choice.counts.data_ptr<int64_t>();
  return {SortByExpert(choice.experts), RowSegments(counts, counts + choice.counts.numel())};
}

Tensor LocalDispatch::Send(const Tensor& x, const DispatchPlan& plan) const {
  Tensor sorted = torch::empty({plan.order.tokens.numel(), x.size(1)}, x.options());
  GatherRows(x, plan.order, sorted);
  return sorted;
}

Tensor LocalDispatch::Return(const Tensor& rows, const DispatchPlan& plan,
                             const Tensor& residual) const {
  Tensor y = torch::empty({plan.order.places.size(0), rows.size(1)}, rows.options());
  SumSlots(rows, plan.order, residual, y);
  return y;
}

Tensor LocalDispatch::SendWeights(const Tensor& weights, const DispatchPlan& plan) const {
  const Tensor of_slots = weights.reshape({-1});
  return torch::empty_like(of_slots).scatter_(0, plan.order.places.view({-1}), of_slots);
}

Tensor LocalDispatch::ReturnWeights(const Tensor& row_weights, const DispatchPlan& plan) const {
  return row_weights.index_select(0, plan.order.places.view({-1})).view(plan.order.places.sizes());
}

}  // namespace trainyard::trainer
