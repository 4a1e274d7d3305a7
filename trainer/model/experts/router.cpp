#include "trainer/model/experts/router.h"

#include <utility>

#include "proto/model/balance_loss.h"
#include "trainer/model/parameters/replicated_tensor.h"
#include "trainer/ops/experts/expert_capacity.h"
#include "trainer/ops/linear/wide_linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

RouterForm FormOf(const ModelConfig& model) {
  return {.score = model.moe_router_score_function,
          .topk = model.moe_router_topk,
          .is_normalised = model.moe_norm_topk_prob,
          .scaling = model.moe_router_topk_scaling_factor,
          .groups = model.moe_router_num_groups,
          .group_topk = model.moe_router_group_topk};
}

}  // namespace

ParameterDeclaration Router::Declare(const ModelConfig& model, const std::string& prefix,
                                     const TensorParallel& tensor) {
  LogicalTensorSlice weight = WholeLogicalTensor(
      prefix + "gate.weight", {model.num_experts, model.hidden_size}, model.init_method_std);
  return {{Replicated(std::move(weight), tensor)}, /*decays=*/true};
}

Router::Router(const ModelConfig& model, const ParameterStore& store, int64_t weight, int64_t layer,
               const ModelParallel& parallel)
    : store_(store),
      weight_(weight),
      layer_(layer),
      form_(FormOf(model)),
      forces_balance_(model.moe_router_force_load_balancing),
      balance_coefficient_(BalanceLossCoefficient(model)),
      balances_sequences_(model.moe_router_load_balancing_type == RouterLoadBalancing::kSeqAuxLoss),
      z_coefficient_(model.moe_z_loss_coeff),
      capacity_(model, parallel),
      tensor_(parallel.tensor),
      context_(parallel.context) {}

Tensor Router::Forward(const Tensor& x, MicroBatch& micro_batch) const {
  Tensor logits = WideLinearForward(x, store_.Value(weight_));
  const Tensor scores = RouterScores(logits, form_);
  if (!micro_batch.repeats) {
    micro_batch.choice = Choose(scores, micro_batch);
    Measure(logits, scores, micro_batch.balance);
  }
  micro_batch.stash.Push(std::move(logits));
  return ExpertWeights(scores, ChosenExperts(micro_batch.choice), form_);
}

ExpertChoice Router::Choose(const Tensor& scores, const MicroBatch& micro_batch) const {
  const ExpertBalance& balance = micro_batch.balance;
  const Tensor bias = balance.bias.defined() ? balance.bias[layer_] : Tensor();
  const Tensor experts =
      forces_balance_ ? BalancedExperts(scores.size(0), scores.size(1), form_.topk, scores.device())
                      : ChooseExperts(scores, bias, form_);
  const Tensor counts = CountRows(experts, scores.size(1));
  if (balance.load.defined()) balance.load[layer_].add_(counts);
  if (capacity_.exists()) return Limit(scores, experts, micro_batch);
  return {experts, counts};
}

ExpertChoice Router::Limit(const Tensor& scores, const Tensor& experts,
                           const MicroBatch& micro_batch) const {
  const Tensor marked =
      capacity_.Apply(experts, ExpertWeights(scores, experts, form_), micro_batch);
  const Tensor& dropped = micro_batch.balance.dropped;
  if (dropped.defined()) dropped[layer_].add_((marked < 0).sum());
  return {marked, CountKeptRows(marked, scores.size(1))};
}

// Includes dropped slots, because the limit must not change the weights of a token's other slots.
Tensor Router::ChosenExperts(const ExpertChoice& choice) const {
  return capacity_.exists() ? WithoutMarks(choice.experts) : choice.experts;
}

// One sum of the logits per layer shows whether all logits are finite.
void Router::Measure(const Tensor& logits, const Tensor& scores,
                     const ExpertBalance& balance) const {
  if (!balance.figures.defined()) return;
  balance.Figure(layer_, RouterFigure::kLogits).add_(logits.sum(torch::kFloat64));
  if (!balance.measures) return;
  balance.Figure(layer_, RouterFigure::kEntropy).add_(ScoreEntropies(scores).sum(torch::kFloat64));
}

void Router::Backward(const Tensor& d_weights, const ExpertChoice& choice, const Tensor& x,
                      MicroBatch& micro_batch, WeightGradients& gradients, Tensor& dx) const {
  const Tensor logits = micro_batch.stash.Pop();
  const Tensor scores = RouterScores(logits, form_);
  Tensor d_logits = RouterLogitGradient(d_weights, scores, ChosenExperts(choice), form_);
  AddBalanceGradients(logits, scores, micro_batch, d_logits);
  AddWideLinearInputGradient(d_logits, store_.Value(weight_), dx);
  gradients.AddLinear(weight_, d_logits, x);
}

// A step's loss contains the mean of these losses over all micro-batches of the step, so that the
// gradient is the same for every layout. The gradients of the ranks that share a micro-batch are
// summed later.
void Router::AddBalanceGradients(const Tensor& logits, const Tensor& scores,
                                 const MicroBatch& micro_batch, Tensor& d_logits) const {
  const BalanceSequences sequences = SequencesOf(micro_batch, logits.size(0));
  if (balance_coefficient_ > 0) {
    const Tensor counts = SumOverSequenceRanks(BalanceCounts(scores, form_.topk, sequences));
    AddBalanceGradient(scores, form_, counts, sequences, balance_coefficient_ * micro_batch.share,
                       d_logits);
    const ExpertBalance& balance = micro_batch.balance;
    if (balance.measures) {
      balance.Figure(layer_, RouterFigure::kAuxLoss)
          .add_(BalanceLoss(scores, form_, counts, sequences), micro_batch.share);
    }
  }
  if (z_coefficient_ > 0) {
    AddZLossGradient(logits, sequences.count * sequences.tokens, z_coefficient_ * micro_batch.share,
                     d_logits);
  }
}

BalanceSequences Router::SequencesOf(const MicroBatch& micro_batch, int64_t rows_here) const {
  const int64_t count = balances_sequences_ ? micro_batch.batch : 1;
  const int64_t length = micro_batch.rows() / count;
  const int64_t first = tensor_.splits_rows() ? tensor_.index() * rows_here : 0;
  return {.count = count, .length = length, .first = first, .tokens = length * context_.size()};
}

Tensor Router::SumOverSequenceRanks(Tensor counts) const {
  if (tensor_.splits_rows()) counts = tensor_.Collect(counts).sum(0);
  if (context_.size() > 1) context_.group().AllReduce(counts).Wait();
  return counts;
}

}  // namespace trainyard::trainer
