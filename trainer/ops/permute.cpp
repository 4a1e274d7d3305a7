#include "trainer/ops/permute.h"

#include <tuple>

#include "trainer/ops/compute_type.h"

namespace trainyard::trainer {

using torch::Tensor;

ExpertOrder SortByExpert(const Tensor& experts) {
  const Tensor flat = experts.reshape({-1});
  const Tensor slots = std::get<1>(at::sort(flat, /*stable=*/true, 0, /*descending=*/false));
  const Tensor rows = torch::arange(flat.numel(), flat.options());
  return {slots.div(experts.size(1), "floor"),
          torch::empty_like(flat).scatter_(0, slots, rows).view(experts.sizes())};
}

void GatherRows(const Tensor& x, const ExpertOrder& order, Tensor& sorted) {
  at::index_select_out(sorted, x, 0, order.tokens);
}

void SumSlots(const Tensor& sorted, const ExpertOrder& order, const Tensor& residual, Tensor& y) {
  const auto compute = ComputeType(y.scalar_type());
  const auto slot = [&](int64_t number) {
    return sorted.index_select(0, order.places.select(1, number)).to(compute);
  };
  Tensor sum = slot(0);
  for (int64_t number = 1; number < order.places.size(1); ++number) sum.add_(slot(number));
  if (residual.defined()) sum.add_(residual);
  y.copy_(sum);
}

void ScaleRows(const Tensor& x, const Tensor& weights, Tensor& scaled) {
  scaled.copy_(x.to(weights.scalar_type()) * weights.unsqueeze(1));
}

Tensor ScaleRowsBackward(const Tensor& x, const Tensor& weights, Tensor& d) {
  const Tensor wide = d.to(weights.scalar_type());
  Tensor d_weights = (wide * x).sum(1);
  d.copy_(wide * weights.unsqueeze(1));
  return d_weights;
}

}  // namespace trainyard::trainer
