#include "trainer/model/experts/slot_rows.h"

namespace trainyard::trainer {

using torch::Tensor;

ExpertOrder OrderOfRows(const Tensor& experts, int64_t rows) {
  ExpertOrder order = SortByExpert(experts);
  order.tokens = order.tokens.narrow(0, 0, rows);
  return order;
}

Tensor RowsOfTokens(const Tensor& x, const ExpertOrder& order) {
  Tensor sorted = torch::empty({order.tokens.numel(), x.size(1)}, x.options());
  GatherRows(x, order, sorted);
  return sorted;
}

Tensor SumOfRows(const Tensor& rows, const ExpertOrder& order, const Tensor& residual) {
  Tensor y = torch::empty({order.places.size(0), rows.size(1)}, rows.options());
  SumSlots(rows, order, residual, y);
  return y;
}

Tensor RowsOfSlots(const Tensor& slots, const ExpertOrder& order) {
  const Tensor flat = slots.reshape({-1});
  return torch::empty_like(flat)
      .scatter_(0, order.places.view({-1}), flat)
      .narrow(0, 0, order.tokens.numel());
}

Tensor SlotsOfRows(const Tensor& rows, const ExpertOrder& order) {
  const Tensor places = order.places.view({-1});
  const Tensor of_places = at::constant_pad_nd(rows, {0, places.numel() - rows.numel()});
  return of_places.index_select(0, places).view(order.places.sizes());
}

}  // namespace trainyard::trainer
