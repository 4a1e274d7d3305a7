#include "trainer/model/all_gather_dispatch.h"

#include <numeric>

#include "trainer/model/counts_of_ranks.h"
#include "trainer/model/slot_rows.h"

namespace trainyard::trainer {

using torch::Tensor;

HostTensor AllGatherDispatch::CountsOfRanks(const Tensor& counts) const {
  return GatherCounts(counts, parallel_);
}

Tensor AllGatherDispatch::Gather(const Tensor& rows) const {
  const Tensor all = torch::empty({parallel_.size() * rows.size(0), rows.size(1)}, rows.options());
  parallel_.ranks().AllGather(all, rows.contiguous()).Wait();
  return all;
}

Tensor AllGatherDispatch::SendBack(const Tensor& rows) const {
  const std::vector<int64_t> tokens(parallel_.size(), rows.size(0) / parallel_.size());
  const Tensor returned = torch::empty_like(rows);
  parallel_.ranks().AllToAll(returned, rows, tokens, tokens).Wait();
  return returned;
}

// The slots of experts on other ranks have no row here. A token of this rank has one slot for each
// rank when the sums have come back.
DispatchPlan AllGatherDispatch::Plan(const ExpertChoice& choice) const {
  const RowCounts counts(choice.HostCounts(), parallel_);
  const Tensor experts = Gather(choice.experts) - counts.first();
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

Tensor AllGatherDispatch::Send(const Tensor& x, const DispatchPlan& plan) const {
  return RowsOfTokens(Gather(x), plan.order);
}

Tensor AllGatherDispatch::Return(const Tensor& rows, const DispatchPlan& plan,
                                 const Tensor& residual) const {
  return SumOfRows(SendBack(SumOfRows(rows, plan.order, Tensor())), plan.arrivals, residual);
}

Tensor AllGatherDispatch::SendWeights(const Tensor& weights, const DispatchPlan& plan) const {
  return RowsOfSlots(Gather(weights), plan.order);
}

Tensor AllGatherDispatch::ReturnWeights(const Tensor& row_weights, const DispatchPlan& plan) const {
  const Tensor slots = SendBack(SlotsOfRows(row_weights, plan.order));
  return slots.unflatten(0, {parallel_.size(), slots.size(0) / parallel_.size()}).sum(0);
}

}  // namespace trainyard::trainer
