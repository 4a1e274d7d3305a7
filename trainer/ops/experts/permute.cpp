#include "trainer/ops/experts/permute.h"

#include <limits>
#include <tuple>

#include "trainer/ops/gpu.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

using torch::Tensor;

namespace {

// Appends a row of zeros if there are dropped slots.
Tensor WithRowOfZeros(const Tensor& sorted, const ExpertOrder& order) {
  if (sorted.size(0) == order.places.numel()) return sorted;
  return at::cat({sorted, torch::zeros({1, sorted.size(1)}, sorted.options())});
}

}  // namespace

ExpertOrder SortByExpert(const Tensor& experts) {
  if (experts.is_cuda()) return gpu::SortByExpert(experts);
  const Tensor flat = experts.reshape({-1});
  const Tensor keys = flat.masked_fill(flat < 0, std::numeric_limits<int64_t>::max());
  const Tensor slots = std::get<1>(at::sort(keys, /*stable=*/true, 0, /*descending=*/false));
  const Tensor rows = torch::arange(flat.numel(), flat.options());
  return {slots.div(experts.size(1), "floor"),
          torch::empty_like(flat).scatter_(0, slots, rows).view(experts.sizes())};
}

void GatherRows(const Tensor& x, const ExpertOrder& order, Tensor& sorted) {
  if (gpu::HasKernels(x)) return gpu::GatherRows(x, order, sorted);
  at::index_select_out(sorted, x, 0, order.tokens);
}

void SumSlots(const Tensor& sorted, const ExpertOrder& order, const Tensor& residual, Tensor& y) {
  if (gpu::HasKernels(y)) return gpu::SumSlots(sorted, order, residual, y);
  const auto compute = ComputeType(y.scalar_type());
  const Tensor rows = WithRowOfZeros(sorted, order);
  const auto slot = [&](int64_t number) {
    const Tensor places = order.places.select(1, number);
    return rows.index_select(0, places.clamp_max(rows.size(0) - 1)).to(compute);
  };
  Tensor sum = slot(0);
  for (int64_t number = 1; number < order.places.size(1); ++number) sum.add_(slot(number));
  if (residual.defined()) sum.add_(residual);
  y.copy_(sum);
}

}  // namespace trainyard::trainer
