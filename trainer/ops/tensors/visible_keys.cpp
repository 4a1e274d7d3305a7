#include "trainer/ops/tensors/visible_keys.h"

namespace trainyard::trainer {

using torch::Tensor;

namespace {

constexpr double kHiddenScore = -1e30;

}  // namespace

Tensor HiddenKeys(const Tensor& query_positions, const Tensor& key_positions,
                  const AttentionLimits& limits) {
  const Tensor queries = query_positions.view({1, -1, 1}), keys = key_positions.view({1, 1, -1});
  Tensor hidden = keys > queries;
  if (limits.window > 0) hidden = hidden.logical_or_(keys <= queries - limits.window);
  if (!limits.document_starts.defined()) return hidden;
  return hidden.logical_or(keys < limits.document_starts.unsqueeze(2));
}

Tensor HiddenKeys(int64_t length, const AttentionLimits& limits, torch::Device device) {
  const Tensor positions =
      torch::arange(length, torch::TensorOptions().dtype(torch::kInt64).device(device));
  return HiddenKeys(positions, positions, limits);
}

Tensor DocumentBias(const Tensor& document_starts) {
  const Tensor keys = torch::arange(document_starts.size(1), document_starts.options());
  const Tensor hidden = keys.view({1, 1, -1}) < document_starts.unsqueeze(2);
  return torch::zeros(hidden.sizes(), hidden.options().dtype(torch::kBFloat16))
      .masked_fill_(hidden, kHiddenScore);
}

void HideScores(const Tensor& hidden, Tensor& scores) {
  scores.view({hidden.size(0), -1, hidden.size(1), hidden.size(2)})
      .masked_fill_(hidden.unsqueeze(1), kHiddenScore);
}

}  // namespace trainyard::trainer
