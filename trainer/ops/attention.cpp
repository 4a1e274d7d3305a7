#include "trainer/ops/attention.h"

#include <limits>

#include "trainer/ops/gpu.h"
#include "trainer/ops/grouped_heads.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Of packed rows; see grouped_heads.h.
struct GroupedHeads {
  Tensor query;
  Tensor key;
  Tensor value;
};

GroupedHeads Group(const Tensor& packed, const AttentionHeads& heads) {
  const int64_t keys = heads.key_heads, queries = heads.query_heads;
  return {StackHeads(packed.narrow(2, 0, queries), keys),
          StackHeads(packed.narrow(2, queries, keys), keys),
          StackHeads(packed.narrow(2, queries + keys, keys), keys)};
}

}  // namespace

Tensor AttentionForward(const Tensor& packed, const AttentionHeads& heads, Tensor& out) {
  if (gpu::HasFusedAttention(packed)) return gpu::AttentionForward(packed, heads, out);
  const int64_t length = packed.size(1), share = heads.query_heads / heads.key_heads;
  const auto [query, key, value] = Group(packed, heads);
  const double minus_infinity = -std::numeric_limits<double>::infinity();
  const Tensor mask =
      torch::full({length, length}, minus_infinity, query.options()).triu_(1).repeat({share, 1});
  const Tensor scores = at::baddbmm(mask, query, key.transpose(1, 2), /*beta=*/1,
                                    /*alpha=*/ScoreScale(heads.head_size));
  Tensor softmax = at::softmax(scores, -1);
  UnstackHeads(at::bmm(softmax, value), out);
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
  const Tensor gradient = StackHeads(dout, keys);
  UnstackHeads(at::bmm(weights.transpose(1, 2), gradient),
               d_packed.narrow(2, queries + keys, keys));
  const Tensor d_weights = at::bmm(gradient, value.transpose(1, 2));
  const Tensor d_scores = at::_softmax_backward_data(d_weights, weights, -1, weights.scalar_type())
                              .mul_(ScoreScale(heads.head_size));
  UnstackHeads(at::bmm(d_scores, key), d_packed.narrow(2, 0, queries));
  UnstackHeads(at::bmm(d_scores.transpose(1, 2), query), d_packed.narrow(2, queries, keys));
}

}  // namespace trainyard::trainer
