#include "trainer/model/all_to_all_dispatch.h"

#include <numeric>

#include "trainer/model/counts_of_ranks.h"
#include "trainer/model/slot_rows.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

int64_t Sum(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

// Returns, for each row that arrives, its expert of this rank: int64 [rows]. `counts` is
// [ranks, experts here]. Rows arrive in the order of ranks, and from each rank in the order of
// experts.
Tensor ExpertsOfArrivals(const Tensor& counts, torch::Device device) {
  const Tensor experts =
      torch::arange(counts.size(1), counts.options().device(device)).repeat({counts.size(0)});
  return at::repeat_interleave(experts, counts.reshape({-1}).to(device), 0,
                               counts.sum().item<int64_t>());
}

}  // namespace

HostTensor AllToAllDispatch::CountsOfRanks(const Tensor& counts) const {
  return GatherCounts(counts, parallel_);
}

// Numbers the parts of all experts by rank: those of rank r are r * experts_here and following.
// Returns the part of each slot, int64 [tokens, topk * parts].
Tensor AllToAllDispatch::PartsOf(const Tensor& experts, int64_t experts_here) const {
  if (parallel_.parts() == 1) return experts;
  const Tensor group = experts.div(experts_here, "floor"), place = experts.remainder(experts_here);
  const Tensor parts = torch::arange(parallel_.parts(), experts.options());
  const Tensor ranks = (group * parallel_.parts()).unsqueeze(2) + parts;
  return at::where(experts.unsqueeze(2) < 0, -1, ranks * experts_here + place.unsqueeze(2))
      .flatten(1);
}

DispatchPlan AllToAllDispatch::Plan(const ExpertChoice& choice) const {
  const RowCounts counts(choice.HostCounts(), parallel_);
  DispatchPlan plan;
  plan.sent = counts.Sent();
  plan.received = counts.Received();
  plan.segments = counts.OfExpertsHere();
  plan.order = OrderOfRows(PartsOf(choice.experts, counts.here().size(1)), Sum(plan.sent));
  if (plan.segments.size() > 1) {
    const Tensor experts = ExpertsOfArrivals(counts.here(), choice.experts.device());
    plan.arrivals = OrderOfRows(experts.unsqueeze(1), experts.numel());
  }
  return plan;
}

Tensor AllToAllDispatch::Exchange(const Tensor& rows, const DispatchPlan& plan) const {
  const Tensor arrived = torch::empty({Sum(plan.received), rows.size(1)}, rows.options());
  parallel_.ranks().AllToAll(arrived, rows, plan.received, plan.sent).Wait();
  return plan.arrivals.tokens.defined() ? RowsOfTokens(arrived, plan.arrivals) : arrived;
}

Tensor AllToAllDispatch::ExchangeBack(const Tensor& rows, const DispatchPlan& plan) const {
  const Tensor leaving =
      plan.arrivals.tokens.defined() ? SumOfRows(rows, plan.arrivals, Tensor()) : rows;
  const Tensor returned = torch::empty({Sum(plan.sent), rows.size(1)}, rows.options());
  parallel_.ranks().AllToAll(returned, leaving, plan.sent, plan.received).Wait();
  return returned;
}

Tensor AllToAllDispatch::Send(const Tensor& x, const DispatchPlan& plan) const {
  return Exchange(RowsOfTokens(x, plan.order), plan);
}

Tensor AllToAllDispatch::Return(const Tensor& rows, const DispatchPlan& plan,
                                const Tensor& residual) const {
  return SumOfRows(ExchangeBack(rows, plan), plan.order, residual);
}

Tensor AllToAllDispatch::SendWeights(const Tensor& weights, const DispatchPlan& plan) const {
  const Tensor of_parts = weights.unsqueeze(2).expand({-1, -1, parallel_.parts()}).flatten(1);
  return Exchange(RowsOfSlots(of_parts, plan.order).unsqueeze(1), plan).squeeze(1);
}

Tensor AllToAllDispatch::ReturnWeights(const Tensor& row_weights, const DispatchPlan& plan) const {
  const Tensor rows = ExchangeBack(row_weights.contiguous().unsqueeze(1), plan).squeeze(1);
  return SlotsOfRows(rows, plan.order)
      .unflatten(1, {plan.order.places.size(1) / parallel_.parts(), parallel_.parts()})
      .sum(2);
}

}  // namespace trainyard::trainer
