#include "trainer/ops/experts/balance_loss.h"

#include <cmath>

#include "trainer/ops/gpu.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns the sequence of each of this rank's rows, int64 [rows].
Tensor SequenceOfRows(const Tensor& scores, const BalanceSequences& sequences) {
  return torch::arange(sequences.first, sequences.first + scores.size(0),
                       scores.options().dtype(torch::kInt64))
      .div(sequences.length, "floor");
}

// Returns the gradient of the logits, given the gradient `d` of the normalized scores.
Tensor ThroughNormalisedScores(const Tensor& d, const Tensor& scores, RouterScoreFunction kind) {
  if (kind == RouterScoreFunction::kSoftmax) return scores * (d - (scores * d).sum(1, true));
  const Tensor sum = scores.sum(1, true);
  const Tensor d_scores = (d - (d * scores).sum(1, true) / sum) / sum;
  return d_scores * scores * (1 - scores);
}

// The load f_i of expert i is counts_i times a factor (AddBalanceGradient). Returns this factor,
// divided by the number of tokens of all sequences.
double LoadFactor(const Tensor& scores, const RouterForm& form, const BalanceSequences& sequences) {
  const auto tokens = static_cast<double>(sequences.tokens);
  return static_cast<double>(scores.size(1)) / (static_cast<double>(form.topk) * tokens) / tokens /
         static_cast<double>(sequences.count);
}

// Returns the gradient of the normalized scores of this rank's rows, [rows, experts]: the loads f
// of each row's sequence, times `coefficient`, divided by the number of tokens of all sequences.
Tensor LoadsOfRows(const Tensor& scores, const RouterForm& form, const Tensor& counts,
                   const BalanceSequences& sequences, double coefficient) {
  const double factor = coefficient * LoadFactor(scores, form, sequences);
  const Tensor of_sequences = (counts.to(torch::kFloat64) * factor).to(scores.scalar_type());
  return of_sequences.index_select(0, SequenceOfRows(scores, sequences));
}

}  // namespace

Tensor BalanceCounts(const Tensor& scores, int64_t topk, const BalanceSequences& sequences) {
  const int64_t experts = scores.size(1);
  const Tensor chosen = ChooseExperts(scores, {}, {.topk = topk});
  if (chosen.is_cuda()) return gpu::CountRows(chosen, experts, sequences);
  const Tensor cells = SequenceOfRows(scores, sequences).unsqueeze(1) * experts + chosen;
  return CountRows(cells, sequences.count * experts).view({sequences.count, experts});
}

void AddBalanceGradient(const Tensor& scores, const RouterForm& form, const Tensor& counts,
                        const BalanceSequences& sequences, double coefficient, Tensor& d_logits) {
  if (gpu::HasKernels(scores)) {
    return gpu::AddBalanceGradient(scores, form, counts, sequences,
                                   coefficient * LoadFactor(scores, form, sequences), d_logits);
  }
  const Tensor d = LoadsOfRows(scores, form, counts, sequences, coefficient);
  d_logits.add_(ThroughNormalisedScores(d, scores, form.score));
}

Tensor BalanceLoss(const Tensor& scores, const RouterForm& form, const Tensor& counts,
                   const BalanceSequences& sequences) {
  const Tensor loads = LoadsOfRows(scores, form, counts, sequences, 1);
  return (loads * (scores / scores.sum(1, true))).sum(torch::kFloat64);
}

Tensor ScoreEntropies(const Tensor& scores) {
  if (scores.size(1) == 1) return torch::ones({scores.size(0)}, scores.options());
  const Tensor shares = scores / scores.sum(1, true);
  return at::xlogy(shares, shares).sum(1) / -std::log(static_cast<double>(scores.size(1)));
}

void AddZLossGradient(const Tensor& logits, int64_t tokens, double coefficient, Tensor& d_logits) {
  const Tensor wide = logits.to(d_logits.scalar_type());
  const double factor = 2 * coefficient / static_cast<double>(tokens);
  if (gpu::HasKernels(wide)) return gpu::AddZLossGradient(wide, factor, d_logits);
  d_logits.add_(at::softmax(wide, 1) * at::logsumexp(wide, 1, /*keepdim=*/true), factor);
}

}  // namespace trainyard::trainer
