#include "trainer/ops/attention.h"

#include <cmath>
#include <limits>

#include "trainer/ops/torch_version.h"

namespace trainyard::trainer {

using torch::Tensor;

Tensor CausalAttention(const Tensor& query, const Tensor& key, const Tensor& value) {
  if (kHasFusedAttention && query.is_cuda()) return FusedCausalAttention(query, key, value);
  return PlainCausalAttention(query, key, value);
}

Tensor PlainCausalAttention(const Tensor& query, const Tensor& key, const Tensor& value) {
  const int64_t batch = query.size(0), heads = query.size(1), length = query.size(2);
  const int64_t groups = key.size(1), size = query.size(3), share = heads / groups;
  // The queries of a group are stacked into one tall matrix, so that keys are not repeated.
  const Tensor q = query.reshape({batch * groups, share * length, size});
  const Tensor k = key.reshape({batch * groups, length, size});
  const Tensor v = value.reshape({batch * groups, length, size});
  const double minus_infinity = -std::numeric_limits<double>::infinity();
  const Tensor mask =
      torch::full({length, length}, minus_infinity, query.options()).triu_(1).repeat({share, 1});
  const double scale = 1.0 / std::sqrt(static_cast<double>(size));
  const Tensor scores = at::baddbmm(mask, q, k.transpose(1, 2), /*beta=*/1, /*alpha=*/scale);
  return at::bmm(at::softmax(scores, -1), v).view({batch, heads, length, size});
}

}  // namespace trainyard::trainer
