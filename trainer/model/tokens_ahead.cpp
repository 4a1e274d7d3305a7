#include "trainer/model/tokens_ahead.h"

#include <algorithm>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns `values`, [batch, size], moved to the left by `distance`, with zeros at the end.
Tensor MoveLeft(const Tensor& values, int64_t distance) {
  const int64_t size = values.size(1), lost = std::min(distance, size);
  return at::constant_pad_nd(values.narrow(1, lost, size - lost), {0, lost});
}

}  // namespace

TokensAhead LookAhead(const Tensor& tokens, const Tensor& weights, int64_t distance) {
  const int64_t length = weights.size(1);
  return {MoveLeft(tokens, distance).narrow(1, 0, length),
          MoveLeft(tokens, distance + 1).narrow(1, 0, length), MoveLeft(weights, distance)};
}

void MaskOtherDocuments(const Tensor& starts, int64_t distance, TokensAhead& ahead) {
  ahead.weights = ahead.weights * (MoveLeft(starts, distance) == starts);
}

}  // namespace trainyard::trainer
