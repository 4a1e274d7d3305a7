#include "trainer/model/layers/head.h"

#include <algorithm>

#include "trainer/ops/linear/linear.h"
#include "trainer/ops/loss/vocabulary_cross_entropy.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Calls visit(first row, number of rows) for consecutive chunks of rows.
template <typename Visit>
void ForEachChunk(int64_t rows, int64_t vocabulary, torch::Device device, const Visit& visit) {
  const int64_t chunk = CrossEntropyRowsPerChunk(vocabulary, device);
  for (int64_t first = 0; first < rows; first += chunk) {
    visit(first, std::min(chunk, rows - first));
  }
}

Targets Part(const Targets& targets, int64_t first, int64_t rows) {
  return {targets.tokens.narrow(0, first, rows), targets.weights.narrow(0, first, rows)};
}

}  // namespace

// If the vocabulary is divided among ranks, these exchange 12 bytes per row to combine the losses.
void Head::AddLoss(Tensor& logits, const Targets& targets, LossPass pass, Tensor& loss) const {
  if (tensor_.size() == 1) return CrossEntropy(logits, targets, pass, loss);
  Tensor statistics = torch::empty({logits.size(0), kCrossEntropyStatistics},
                                   logits.options().dtype(ComputeType(logits.scalar_type())));
  CrossEntropyStatistics(logits, targets.tokens, parameters_.first_token, statistics);
  CrossEntropyOfPart(logits, targets, parameters_.first_token,
                     CombineStatistics(tensor_.Collect(statistics)), pass, loss);
}

Tensor Head::LossAndGradient(const Tensor& normal, const Targets& targets, Tensor& loss,
                             WeightGradients& gradients) const {
  const Tensor weight = store_.Value(parameters_.weight);
  const Tensor rows_of_all = tensor_.Gather(normal);
  Tensor dx = torch::empty_like(rows_of_all);
  ForEachChunk(dx.size(0), parameters_.largest_part, dx.device(), [&](int64_t first, int64_t rows) {
    const Tensor part = rows_of_all.narrow(0, first, rows);
    Tensor logits = torch::empty({rows, weight.size(0)}, dx.options());
    LinearForward(part, weight, logits);
    AddLoss(logits, Part(targets, first, rows), LossPass::kLossAndGradient, loss);
    Tensor d_part = dx.narrow(0, first, rows);
    LinearInputGradient(logits, weight, d_part);
    // The product is computed immediately, because a deferred product would keep the logits of all
    // chunks in memory.
    LinearWeightGradient(logits, part, gradients.Target(parameters_.weight));
  });
  return tensor_.Sum(dx);
}

void Head::Loss(const Tensor& x, const Targets& targets, Tensor& loss) const {
  const Tensor weight = store_.Value(parameters_.weight);
  const Tensor rows_of_all = tensor_.Gather(norm_.Forward(x).y);
  ForEachChunk(rows_of_all.size(0), parameters_.largest_part, x.device(),
               [&](int64_t first, int64_t rows) {
                 Tensor logits = torch::empty({rows, weight.size(0)}, x.options());
                 LinearForward(rows_of_all.narrow(0, first, rows), weight, logits);
                 AddLoss(logits, Part(targets, first, rows), LossPass::kLossOnly, loss);
               });
}

Tensor Head::Logits(const Tensor& x) const {
  const Tensor weight = store_.Value(parameters_.weight);
  const Tensor rows_of_all = tensor_.Gather(norm_.Forward(x).y);
  Tensor logits = torch::empty({rows_of_all.size(0), weight.size(0)}, x.options());
  LinearForward(rows_of_all, weight, logits);
  return logits;
}

}  // namespace trainyard::trainer
