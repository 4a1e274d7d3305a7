// Passes the tensors of routers to the kernels, and sorts rows by expert.
#include "proto/model/expert_limits.h"
#include "trainer/kernels/experts/balance_loss.h"
#include "trainer/kernels/experts/permute.h"
#include "trainer/kernels/experts/routing.h"
#include "trainer/kernels/experts/slot_order.h"
#include "trainer/ops/gpu.h"
#include "trainer/ops/gpu_tensors.h"

namespace trainyard::trainer::gpu {
namespace {

using torch::Tensor;

static_assert(kMostExpertsOnGpus == kernels::kMaxExperts);

kernels::RoutingShape ShapeOf(const Tensor& scores) {
  return {.rows = scores.size(0), .experts = scores.size(1)};
}

kernels::RoutingForm FormOf(const RouterForm& form) {
  return {.is_softmax = form.score == RouterScoreFunction::kSoftmax,
          .is_normalised = form.is_normalised,
          .scaling = static_cast<float>(form.scaling),
          .topk = form.topk,
          .groups = form.groups,
          .group_topk = form.group_topk};
}

kernels::SequenceRows RowsOf(const BalanceSequences& sequences) {
  return {.count = sequences.count, .length = sequences.length, .first = sequences.first};
}

}  // namespace

Tensor RouterScores(const Tensor& logits, const RouterForm& form) {
  CheckContiguous(logits);
  Tensor scores = torch::empty_like(logits);
  kernels::RouterScores(logits.data_ptr<float>(), ShapeOf(logits), FormOf(form),
                        scores.data_ptr<float>(), Stream());
  return scores;
}

Tensor ChooseExperts(const Tensor& scores, const Tensor& bias, const RouterForm& form) {
  CheckContiguous(scores);
  const float* biases = nullptr;
  if (bias.defined()) {
    CheckContiguous(bias);
    biases = bias.data_ptr<float>();
  }
  Tensor chosen = torch::empty({scores.size(0), form.topk}, scores.options().dtype(torch::kInt64));
  kernels::ChooseExperts(scores.data_ptr<float>(), biases, ShapeOf(scores), FormOf(form),
                         chosen.data_ptr<int64_t>(), Stream());
  return chosen;
}

Tensor ExpertWeights(const Tensor& scores, const Tensor& experts, const RouterForm& form) {
  CheckContiguous(scores, experts);
  Tensor weights = torch::empty(experts.sizes(), scores.options());
  kernels::ExpertWeights(scores.data_ptr<float>(), experts.data_ptr<int64_t>(), ShapeOf(scores),
                         FormOf(form), weights.data_ptr<float>(), Stream());
  return weights;
}

Tensor RouterLogitGradient(const Tensor& d_weights, const Tensor& scores, const Tensor& experts,
                           const RouterForm& form) {
  CheckContiguous(d_weights, scores, experts);
  Tensor d_logits = torch::empty_like(scores);
  kernels::RouterLogitGradient({.d_weights = d_weights.data_ptr<float>(),
                                .scores = scores.data_ptr<float>(),
                                .chosen = experts.data_ptr<int64_t>(),
                                .d_logits = d_logits.data_ptr<float>()},
                               ShapeOf(scores), FormOf(form), Stream());
  return d_logits;
}

Tensor CountRows(const Tensor& experts, int64_t count, const BalanceSequences& sequences) {
  CheckContiguous(experts);
  Tensor counts = torch::empty({sequences.count, count}, experts.options());
  kernels::CountExperts(experts.data_ptr<int64_t>(), {.rows = experts.size(0), .experts = count},
                        experts.size(1), RowsOf(sequences), counts.data_ptr<int64_t>(), Stream());
  return counts;
}

void AddBalanceGradient(const Tensor& scores, const RouterForm& form, const Tensor& counts,
                        const BalanceSequences& sequences, double factor, Tensor& d_logits) {
  CheckContiguous(scores, counts, d_logits);
  kernels::AddBalanceGradient({.scores = scores.data_ptr<float>(),
                               .counts = counts.data_ptr<int64_t>(),
                               .d_logits = d_logits.data_ptr<float>(),
                               .factor = factor},
                              ShapeOf(scores), FormOf(form), RowsOf(sequences), Stream());
}

void AddZLossGradient(const Tensor& logits, double factor, Tensor& d_logits) {
  CheckContiguous(logits, d_logits);
  kernels::AddZLossGradient(logits.data_ptr<float>(), ShapeOf(logits), static_cast<float>(factor),
                            d_logits.data_ptr<float>(), Stream());
}

ExpertOrder SortByExpert(const Tensor& experts) {
  CheckContiguous(experts);
  ExpertOrder order{torch::empty({experts.numel()}, experts.options()), torch::empty_like(experts)};
  const Tensor workspace = Workspace(kernels::SlotOrderWorkspaceBytes(experts.numel()), experts);
  kernels::SlotOrder({.experts = experts.data_ptr<int64_t>(),
                      .tokens = order.tokens.data_ptr<int64_t>(),
                      .places = order.places.data_ptr<int64_t>(),
                      .workspace = workspace.data_ptr(),
                      .slots = experts.numel(),
                      .topk = experts.size(1)},
                     Stream());
  return order;
}

void GatherRows(const Tensor& x, const ExpertOrder& order, Tensor& sorted) {
  CheckContiguous(x, order.places, sorted);
  kernels::GatherRows({.x = x.data_ptr(),
                       .places = order.places.data_ptr<int64_t>(),
                       .sorted = sorted.data_ptr(),
                       .tokens = x.size(0),
                       .topk = order.places.size(1),
                       .rows = sorted.size(0),
                       .width = x.size(1),
                       .type = TypeOf(x)},
                      Stream());
}

void SumSlots(const Tensor& sorted, const ExpertOrder& order, const Tensor& residual, Tensor& y) {
  CheckContiguous(sorted, order.places, y);
  if (residual.defined()) CheckContiguous(residual);
  kernels::SumSlots({.sorted = sorted.data_ptr(),
                     .places = order.places.data_ptr<int64_t>(),
                     .residual = AddressOf(residual),
                     .y = y.data_ptr(),
                     .tokens = y.size(0),
                     .topk = order.places.size(1),
                     .rows = sorted.size(0),
                     .width = y.size(1),
                     .type = TypeOf(y)},
                    Stream());
}

}  // namespace trainyard::trainer::gpu
