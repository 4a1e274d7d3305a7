#include "trainer/model/experts/all_to_all_dispatch.h"

#include <numeric>
#include <utility>

#include "trainer/model/experts/counts_of_ranks.h"
#include "trainer/model/experts/slot_rows.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

int64_t Sum(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

// Returns, for each arriving row, the expert of this rank that processes it: int64 [rows]. `counts`
// is [ranks, experts here]. Rows arrive in the order of ranks, and from each rank in the order of
// experts. Uploads from page-locked memory, because any other copy would wait for the device, and
// such a wait does not notice a lost peer.
Tensor ExpertsOfArrivals(const Tensor& counts, torch::Device device) {
  const Tensor experts =
      torch::arange(counts.size(1), counts.options().device(device)).repeat({counts.size(0)});
  const Tensor flat = counts.reshape({-1});
  const Tensor repeats =
      device.is_cuda() ? flat.pin_memory().to(device, /*non_blocking=*/true) : flat;
  return at::repeat_interleave(experts, repeats, 0, counts.sum().item<int64_t>());
}

}  // namespace

void AllToAllDispatch::ShareCounts(ExpertChoice& choice) const { GatherCounts(parallel_, choice); }

// Assigns numbers to the parts of all experts by rank: the parts of rank r begin at number r *
// experts_here. Returns the part of each slot, int64 [tokens, topk * parts].
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

PendingTensor AllToAllDispatch::BeginExchange(const Tensor& rows,
                                              const std::vector<int64_t>& received,
                                              const std::vector<int64_t>& sent) const {
  const Tensor arrived = torch::empty({Sum(received), rows.size(1)}, rows.options());
  return {arrived, parallel_.ranks().AllToAll(arrived, rows, received, sent)};
}

PendingRows AllToAllDispatch::BeginSend(const WeightedRows& tokens,
                                        const DispatchPlan& plan) const {
  const auto exchange = [&](const Tensor& rows) {
    return BeginExchange(rows, plan.received, plan.sent);
  };
  PendingTensor values = exchange(RowsOfTokens(tokens.values, plan.order));
  if (!tokens.weights.defined()) return {std::move(values), {Tensor(), Work()}};
  const Tensor of_parts =
      tokens.weights.unsqueeze(2).expand({-1, -1, parallel_.parts()}).flatten(1);
  return {std::move(values), exchange(RowsOfSlots(of_parts, plan.order).unsqueeze(1))};
}

WeightedRows AllToAllDispatch::FinishSend(PendingRows sent, const DispatchPlan& plan) const {
  const auto by_expert = [&](const Tensor& arrived) {
    const bool is_sorted = !plan.arrivals.tokens.defined() || !arrived.defined();
    return is_sorted ? arrived : RowsOfTokens(arrived, plan.arrivals);
  };
  const Tensor values = by_expert(sent.values.Get()), weights = by_expert(sent.weights.Get());
  return {values, weights.defined() ? weights.squeeze(1) : weights};
}

PendingRows AllToAllDispatch::BeginReturn(const WeightedRows& rows,
                                          const DispatchPlan& plan) const {
  const auto exchange = [&](const Tensor& sorted) {
    const bool is_sorted = !plan.arrivals.tokens.defined();
    return BeginExchange(is_sorted ? sorted : SumOfRows(sorted, plan.arrivals, Tensor()), plan.sent,
                         plan.received);
  };
  PendingTensor values = exchange(rows.values);
  if (!rows.weights.defined()) return {std::move(values), {Tensor(), Work()}};
  return {std::move(values), exchange(rows.weights.contiguous().unsqueeze(1))};
}

WeightedRows AllToAllDispatch::FinishReturn(PendingRows returned, const DispatchPlan& plan,
                                            const Tensor& residual) const {
  const Tensor values = SumOfRows(returned.values.Get(), plan.order, residual);
  const Tensor weights = returned.weights.Get();
  if (!weights.defined()) return {values, weights};
  const int64_t parts = parallel_.parts();
  return {values, SlotsOfRows(weights.squeeze(1), plan.order)
                      .unflatten(1, {plan.order.places.size(1) / parts, parts})
                      .sum(2)};
}

}  // namespace trainyard::trainer
