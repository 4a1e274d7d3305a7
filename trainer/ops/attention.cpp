#include "trainer/ops/attention.h"

#include <cmath>
#include <limits>

#include "trainer/ops/compute_type.h"
#include "trainer/ops/gpu.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Matrices of one key head and the query heads that share it, [batch * key_heads, rows, head_size]:
// the queries of a group are stacked into one tall matrix, so that keys are not repeated.
struct GroupedHeads {
  Tensor query;
  Tensor key;
  Tensor value;
};

// Heads [first, first + count) of the rows, as [batch * key_heads, count / key_heads * length,
// head_size].
Tensor StackHeads(const Tensor& rows, int64_t first, int64_t count, int64_t key_heads) {
  return rows.narrow(2, first, count)
      .transpose(1, 2)
      .reshape({rows.size(0) * key_heads, count / key_heads * rows.size(1), rows.size(3)});
}

// The reverse of StackHeads.
void UnstackHeads(const Tensor& stacked, int64_t first, int64_t count, Tensor& rows) {
  rows.narrow(2, first, count)
      .transpose(1, 2)
      .copy_(stacked.view({rows.size(0), count, rows.size(1), rows.size(3)}));
}

GroupedHeads Group(const Tensor& packed, const AttentionHeads& heads) {
  const int64_t keys = heads.key_heads, queries = heads.query_heads;
  return {StackHeads(packed, 0, queries, keys), StackHeads(packed, queries, keys, keys),
          StackHeads(packed, queries + keys, keys, keys)};
}

double ScoreScale(const AttentionHeads& heads) {
  return 1.0 / std::sqrt(static_cast<double>(heads.head_size));
}

}  // namespace

Tensor AttentionForward(const Tensor& packed, const AttentionHeads& heads, Tensor& out) {
  if (gpu::HasFusedAttention(packed)) return gpu::AttentionForward(packed, heads, out);
  const int64_t length = packed.size(1), share = heads.query_heads / heads.key_heads;
  const auto [query, key, value] = Group(packed, heads);
  const double minus_infinity = -std::numeric_limits<double>::infinity();
  const Tensor mask =
      torch::full({length, length}, minus_infinity, query.options()).triu_(1).repeat({share, 1});
  const Tensor scores =
      at::baddbmm(mask, query, key.transpose(1, 2), /*beta=*/1, /*alpha=*/ScoreScale(heads));
  Tensor softmax = at::softmax(scores, -1);
  UnstackHeads(at::bmm(softmax, value), 0, heads.query_heads, out);
  return softmax;
}

// With P the weights and dP = dO v^T: dS = P * (dP - sum of P * dP over the row).
void AttentionBackward(const Tensor& dout, const AttentionKept& kept, const AttentionHeads& heads,
                       Reproducible reproducible, Tensor& d_packed) {
  if (gpu::HasFusedAttention(dout)) {
    return gpu::AttentionBackward(dout, kept, heads, reproducible, d_packed);
  }
  const int64_t keys = heads.key_heads, queries = heads.query_heads;
  const auto [query, key, value] = Group(kept.packed, heads);
  const Tensor& weights = kept.softmax;
  const Tensor gradient = StackHeads(dout, 0, queries, keys);
  UnstackHeads(at::bmm(weights.transpose(1, 2), gradient), queries + keys, keys, d_packed);
  const Tensor d_weights = at::bmm(gradient, value.transpose(1, 2));
  const Tensor d_scores = at::_softmax_backward_data(d_weights, weights, -1, weights.scalar_type())
                              .mul_(ScoreScale(heads));
  UnstackHeads(at::bmm(d_scores, key), 0, queries, d_packed);
  UnstackHeads(at::bmm(d_scores.transpose(1, 2), query), queries, keys, d_packed);
}

}  // namespace trainyard::trainer
