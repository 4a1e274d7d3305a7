#include "controller/planner/expert_seconds.h"

#include "controller/planner/collective_seconds.h"
#include "proto/memory/block_memory.h"

namespace trainyard::planner {
namespace {

// Returns the number of elements read and written to copy each row for its experts, sorted by
// expert.
double SortElements(const BlockWork& work) { return 2 * work.experts.rows * work.hidden; }

// Returns the number of elements that one pass moves. Rows move to the experts and back:
// - The rows are copied for their experts.
// - After an all-to-all, the received rows are sorted by local expert. The results are put back in
//   the order of arrival. After an all-gather, each rank copies its rows from those of all ranks.
//   Then it adds up the results of each row, and the sums of all ranks.
// - The results of a token and the residual are added.
double DispatchElements(const BlockWork& work) {
  const ExpertWork& experts = work.experts;
  const double sum = (experts.rows + 2 * work.norm_rows) * work.hidden;
  switch (experts.dispatch) {
    case ExpertDispatch::kLocal:
      return SortElements(work) + sum;
    case ExpertDispatch::kAllToAll:
      return SortElements(work) + 4 * experts.rows * work.hidden + sum;
    case ExpertDispatch::kAllGather:
      return (3 * experts.rows + 2 * experts.ranks * work.norm_rows + 2 * work.norm_rows) *
             work.hidden;
  }
  return 0;
}

// The activation function, and the product with the weights of the rows.
double ExpertActivationElements(const BlockWork& work) {
  return work.experts.rows * work.experts.ffn;
}

// The router computes in fp32. The forward pass casts the rows, and reads and writes the logits and
// scores. The backward pass has two products, casts the rows again, and adds the gradient of the
// rows to that of the experts.
double RouterForward(const BlockWork& work, const Kernels& kernels) {
  const double rows = work.norm_rows * work.hidden, logits = work.norm_rows * work.experts.all;
  return kernels.WideProduct(work.RouterProduct().Flops(),
                             rows * (work.element + 2 * kFloatBytes) + 3 * kFloatBytes * logits);
}

double RouterBackward(const BlockWork& work, const Kernels& kernels) {
  const double rows = work.norm_rows * work.hidden, logits = work.norm_rows * work.experts.all;
  return kernels.WideProduct(
      2 * work.RouterProduct().Flops(),
      rows * (3 * work.element + 4 * kFloatBytes) + 6 * kFloatBytes * logits);
}

// Returns the time to send rows to the ranks of their experts and to return the results. With an
// all-gather, every rank sends all of its rows to each other rank, and gets back one sum per row.
double ExchangeSeconds(const BlockWork& work, const GroupPlace& place, const GroupLinks& links) {
  const ExpertWork& experts = work.experts;
  const double row_bytes = work.element * work.hidden;
  if (experts.dispatch != ExpertDispatch::kAllGather) {
    return 2 * links.ExchangeSeconds(row_bytes * experts.rows);
  }
  const double bytes = experts.ranks * row_bytes * work.norm_rows;
  const double gather = place.nodes > 1 ? links.GatherSeconds(bytes) : links.ExchangeSeconds(bytes);
  return gather + links.ExchangeSeconds(bytes);
}

// Returns the visible time to send rows and to return the results.
double TransferSeconds(const BlockWork& work, const Cluster& cluster,
                       const TrainerProfile& profile) {
  if (work.experts.ranks == 1) return 0;
  const GroupPlace place = PlaceOfGroup(static_cast<int64_t>(work.experts.ranks), 1, cluster);
  const double hidden_share = work.ffn > 0 ? profile.expert_hidden : 0;
  return (1 - hidden_share) * ExchangeSeconds(work, place, GroupLinks(place, cluster, profile));
}

}  // namespace

// All ranks of the experts wait for the rank with the most rows. Selective recomputation sends the
// rows again, but not the results.
ExpertSeconds SecondsOfExperts(const BlockWork& work, const Kernels& kernels,
                               const Cluster& cluster, const TrainerProfile& profile) {
  ExpertSeconds seconds;
  if (work.experts.count == 0) return seconds;
  const bool is_uneven = work.experts.ranks > 1 && !work.experts.is_balanced;
  const double busiest = is_uneven ? profile.expert_imbalance : 1;
  const double activation = ExpertActivationElements(work), gate = work.is_gated ? 1 : 0;
  const double moved = kernels.Elementwise(DispatchElements(work));
  const double forward = busiest * (kernels.ForwardExpertProducts(work.ExpertProducts()) +
                                    kernels.Elementwise((3 + gate) * activation) + moved);
  const double backward = busiest * (kernels.BackwardExpertProducts(work.ExpertProducts()) +
                                     kernels.Elementwise((5 + 2 * gate) * activation) + moved);
  const double router = RouterForward(work, kernels);
  const double transfers = TransferSeconds(work, cluster, profile);
  seconds.forward = {.compute = forward + router + profile.seconds_per_routing,
                     .expert = transfers};
  seconds.backward = {.compute = backward + RouterBackward(work, kernels), .expert = transfers};
  seconds.full = {.compute = forward + router, .expert = transfers};
  const double again = (2 + gate) * activation + SortElements(work);
  seconds.selective = {.compute = busiest * kernels.Elementwise(again), .expert = transfers / 2};
  return seconds;
}

}  // namespace trainyard::planner
