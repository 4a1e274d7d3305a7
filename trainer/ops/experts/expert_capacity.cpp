#include "trainer/ops/experts/expert_capacity.h"

#include <tuple>

#include "proto/model/expert_limits.h"
#include "trainer/ops/experts/routing.h"
#include "trainer/ops/gpu.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns the order that sorts `values`. Equal values keep their order.
Tensor StableOrder(const Tensor& values, bool descending) {
  return std::get<1>(at::sort(values, /*stable=*/true, 0, descending));
}

// Assigns numbers to the (sequence, expert) pairs. Returns the number of each slot's pair, [slots].
Tensor PairOfSlots(const Tensor& experts, int64_t count) {
  const Tensor sequences = torch::arange(experts.size(0), experts.options()).view({-1, 1, 1});
  return (sequences * count + experts).reshape({-1});
}

// Returns the slots sorted by pair, and in each pair by preference.
Tensor SlotsByPreference(const Tensor& pairs, const Tensor& weights) {
  if (!weights.defined()) return StableOrder(pairs, /*descending=*/false);
  const Tensor slots = StableOrder(weights.reshape({-1}), /*descending=*/true);
  return slots.index_select(0, StableOrder(pairs.index_select(0, slots), /*descending=*/false));
}

}  // namespace

Tensor DropAboveCapacity(const Tensor& experts, const Tensor& weights, const CapacityForm& form) {
  if (experts.is_cuda() && (!weights.defined() || weights.scalar_type() == torch::kFloat32)) {
    Tensor marked = torch::empty_like(experts);
    gpu::DropAboveCapacity(experts, weights, form, marked);
    return marked;
  }
  const Tensor pairs = PairOfSlots(experts, form.experts);
  const Tensor slots = SlotsByPreference(pairs, weights), sorted = pairs.index_select(0, slots);
  const Tensor counts = CountRows(pairs, experts.size(0) * form.experts);
  const Tensor first = counts.cumsum(0) - counts;
  const Tensor rank = torch::arange(pairs.numel(), pairs.options()) - first.index_select(0, sorted);
  const Tensor is_dropped = torch::empty_like(rank).scatter_(0, slots, rank) >= form.capacity;
  return at::where(is_dropped.view(experts.sizes()), -1 - experts, experts);
}

Tensor WithoutMarks(const Tensor& experts) { return at::maximum(experts, -1 - experts); }

// Dropped slots are counted for an additional expert, whose count is not returned.
Tensor CountKeptRows(const Tensor& experts, int64_t count) {
  if (experts.is_cuda() && count <= kMostExpertsOnGpus) {
    return gpu::CountRows(experts, count, {.length = experts.size(0)}).view({count});
  }
  return CountRows(experts.masked_fill(experts < 0, count), count + 1).narrow(0, 0, count);
}

}  // namespace trainyard::trainer
