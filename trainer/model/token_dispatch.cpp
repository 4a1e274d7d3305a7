#include "trainer/model/token_dispatch.h"

namespace trainyard::trainer {

using torch::Tensor;

DispatchPlan LocalDispatch::Plan(const ExpertChoice& choice) const {
  const int64_t* counts = choice.counts.data_ptr<int64_t>();
  DispatchPlan plan{SortByExpert(choice.experts),
                    RowSegments(counts, counts + choice.counts.numel())};
  plan.order.tokens = plan.order.tokens.narrow(0, 0, choice.counts.sum().item<int64_t>());
  return plan;
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
  return torch::empty_like(of_slots)
      .scatter_(0, plan.order.places.view({-1}), of_slots)
      .narrow(0, 0, plan.order.tokens.numel());
}

Tensor LocalDispatch::ReturnWeights(const Tensor& row_weights, const DispatchPlan& plan) const {
  const Tensor places = plan.order.places.view({-1});
  const Tensor of_slots =
      at::constant_pad_nd(row_weights, {0, places.numel() - row_weights.numel()});
  return of_slots.index_select(0, places).view(plan.order.places.sizes());
}

}  // namespace trainyard::trainer
