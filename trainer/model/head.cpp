#include "trainer/model/head.h"

#include <algorithm>

#include "trainer/ops/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Calls visit(first, rows) for the chunks of `rows` rows.
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

Tensor Head::LossAndGradient(const Tensor& x, const Targets& targets, Tensor& loss,
                             WeightGradients& gradients) const {
  const Tensor& weight = store_.Value(weight_);
  const Norm::Result normal = norm_.Forward(x);
  Tensor dx = torch::empty_like(x);
  ForEachChunk(x.size(0), weight.size(0), x.device(), [&](int64_t first, int64_t rows) {
    const Tensor part = normal.y.narrow(0, first, rows);
    Tensor logits = torch::empty({rows, weight.size(0)}, x.options());
    LinearForward(part, weight, logits);
    CrossEntropy(logits, Part(targets, first, rows), LossPass::kLossAndGradient, loss);
    Tensor d_part = dx.narrow(0, first, rows);
    LinearInputGradient(logits, weight, d_part);
    // At once: a deferred product would keep the logits of all chunks.
    LinearWeightGradient(logits, part, gradients.Target(weight_));
  });
  return norm_.Backward(std::move(dx), x, normal.inverse_rms, Tensor(), gradients);
}

void Head::Loss(const Tensor& x, const Targets& targets, Tensor& loss) const {
  const Tensor& weight = store_.Value(weight_);
  const Norm::Result normal = norm_.Forward(x);
  ForEachChunk(x.size(0), weight.size(0), x.device(), [&](int64_t first, int64_t rows) {
    Tensor logits = torch::empty({rows, weight.size(0)}, x.options());
    LinearForward(normal.y.narrow(0, first, rows), weight, logits);
    CrossEntropy(logits, Part(targets, first, rows), LossPass::kLossOnly, loss);
  });
}

Tensor Head::Logits(const Tensor& x) const {
  const Tensor& weight = store_.Value(weight_);
  Tensor logits = torch::empty({x.size(0), weight.size(0)}, x.options());
  LinearForward(norm_.Forward(x).y, weight, logits);
  return logits;
}

}  // namespace trainyard::trainer
