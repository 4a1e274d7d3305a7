#include "trainer/model/experts/all_gather_dispatch.h"

#include <numeric>
#include <utility>

#include "trainer/model/experts/counts_of_ranks.h"
#include "trainer/model/experts/slot_rows.h"

namespace trainyard::trainer {

using torch::Tensor;

void AllGatherDispatch::ShareCounts(ExpertChoice& choice) const { GatherCounts(parallel_, choice); }

PendingTensor AllGatherDispatch::BeginGather(const Tensor& rows) const {
  const Tensor all = torch::empty({parallel_.size() * rows.size(0), rows.size(1)}, rows.options());
  return {all, parallel_.ranks().AllGather(all, rows.contiguous())};
}

PendingTensor AllGatherDispatch::BeginSendBack(const Tensor& rows) const {
  const std::vector<int64_t> tokens(parallel_.size(), rows.size(0) / parallel_.size());
  const Tensor returned = torch::empty_like(rows);
  return {returned, parallel_.ranks().AllToAll(returned, rows, tokens, tokens)};
}

// The slots of experts on other ranks have no row here. When the sums have been returned, a token
// of this rank has one slot for each rank.
DispatchPlan AllGatherDispatch::Plan(const ExpertChoice& choice) const {
  const RowCounts counts(choice.HostCounts(), parallel_);
  const Tensor experts = BeginGather(choice.experts).Get() - counts.first();
  DispatchPlan plan;
  plan.segments = counts.OfExpertsHere();
  const int64_t rows = std::accumulate(plan.segments.begin(), plan.segments.end(), int64_t{0});
  plan.order = OrderOfRows(
      experts.masked_fill(experts >= static_cast<int64_t>(plan.segments.size()), -1), rows);
  const int64_t tokens = choice.experts.size(0);
  plan.arrivals.places = torch::arange(parallel_.size() * tokens, experts.options())
                             .view({parallel_.size(), tokens})
                             .t()
                             .contiguous();
  return plan;
}

PendingRows AllGatherDispatch::BeginSend(const WeightedRows& tokens,
                                         const DispatchPlan& /*plan*/) const {
  PendingTensor values = BeginGather(tokens.values);
  if (!tokens.weights.defined()) return {std::move(values), {Tensor(), Work()}};
  return {std::move(values), BeginGather(tokens.weights)};
}

WeightedRows AllGatherDispatch::FinishSend(PendingRows sent, const DispatchPlan& plan) const {
  const Tensor weights = sent.weights.Get();
  return {RowsOfTokens(sent.values.Get(), plan.order),
          weights.defined() ? RowsOfSlots(weights, plan.order) : weights};
}

PendingRows AllGatherDispatch::BeginReturn(const WeightedRows& rows,
                                           const DispatchPlan& plan) const {
  PendingTensor values = BeginSendBack(SumOfRows(rows.values, plan.order, Tensor()));
  if (!rows.weights.defined()) return {std::move(values), {Tensor(), Work()}};
  return {std::move(values), BeginSendBack(SlotsOfRows(rows.weights, plan.order))};
}

WeightedRows AllGatherDispatch::FinishReturn(PendingRows returned, const DispatchPlan& plan,
                                             const Tensor& residual) const {
  const Tensor values = SumOfRows(returned.values.Get(), plan.arrivals, residual);
  const Tensor weights = returned.weights.Get();
  if (!weights.defined()) return {values, weights};
  const int64_t ranks = parallel_.size();
  return {values, weights.unflatten(0, {ranks, weights.size(0) / ranks}).sum(0)};
}

}  // namespace trainyard::trainer
