#include "trainer/ops/attention/attention.h"

#include <limits>

#include "trainer/ops/attention/grouped_heads.h"
#include "trainer/ops/gpu.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The heads of packed rows, stacked into matrices (grouped_heads.h), in the compute type.
struct GroupedHeads {
  Tensor query;
  Tensor key;
  Tensor value;
};

GroupedHeads Group(const Tensor& packed, const AttentionHeads& heads) {
  const int64_t keys = heads.key_heads, queries = heads.query_heads;
  return {WideStack(packed.narrow(2, 0, queries), keys),
          WideStack(packed.narrow(2, queries, keys), keys),
          WideStack(packed.narrow(2, queries + keys, keys), keys)};
}

AttentionKernel KernelFor(const Tensor& rows, const AttentionForm& form) {
  if (form.kernel != AttentionKernel::kAuto) return form.kernel;
  const bool is_fused = gpu::HasFusedAttention(rows) && !form.limits.document_starts.defined();
  return is_fused ? AttentionKernel::kCudnn : AttentionKernel::kManual;
}

// Returns the scaled scores. The scores of hidden keys are masked.
Tensor Scores(const GroupedHeads& heads, int64_t length, const AttentionLimits& limits) {
  const Tensor& query = heads.query;
  const double scale = ScoreScale(query.size(2));
  const Tensor keys = heads.key.transpose(1, 2);
  if (!limits.any()) {
    const double minus_infinity = -std::numeric_limits<double>::infinity();
    const Tensor mask = torch::full({length, length}, minus_infinity, query.options())
                            .triu_(1)
                            .repeat({query.size(1) / length, 1});
    return at::baddbmm(mask, query, keys, /*beta=*/1, /*alpha=*/scale);
  }
  Tensor scores = at::bmm(query, keys).mul_(scale);
  HideScores(HiddenKeys(length, limits, query.device()), scores);
  return scores;
}

}  // namespace

Tensor AttentionForward(const Tensor& packed, const AttentionHeads& heads, Tensor& out,
                        const AttentionForm& form) {
  switch (KernelFor(packed, form)) {
    case AttentionKernel::kCudnn:
      return gpu::AttentionForward(packed, heads, out, form.limits);
    case AttentionKernel::kFlash:
      return gpu::FlashAttentionForward(packed, heads, out, form.limits.window);
    case AttentionKernel::kSdpa:
      return gpu::EfficientAttentionForward(packed, heads, out);
    default:
      break;
  }
  const GroupedHeads grouped = Group(packed, heads);
  Tensor softmax = at::softmax(Scores(grouped, packed.size(1), form.limits), -1);
  UnstackHeads(at::bmm(softmax, grouped.value), out);
  return softmax;
}

namespace {

// P is the softmax weights. With dP = dO v^T, the gradient of the scores is dS = P * (dP - s),
// where s is the sum of P * dP over the row.
void ManualBackward(const Tensor& dout, const AttentionKept& kept, const AttentionHeads& heads,
                    Tensor& d_packed) {
  const int64_t keys = heads.key_heads, queries = heads.query_heads;
  const auto [query, key, value] = Group(kept.packed, heads);
  const Tensor& weights = kept.softmax;
  const Tensor gradient = WideStack(dout, keys);
  UnstackHeads(at::bmm(weights.transpose(1, 2), gradient),
               d_packed.narrow(2, queries + keys, keys));
  const Tensor d_weights = at::bmm(gradient, value.transpose(1, 2));
  const Tensor d_scores = at::_softmax_backward_data(d_weights, weights, -1, weights.scalar_type())
                              .mul_(ScoreScale(heads.head_size));
  UnstackHeads(at::bmm(d_scores, key), d_packed.narrow(2, 0, queries));
  UnstackHeads(at::bmm(d_scores.transpose(1, 2), query), d_packed.narrow(2, queries, keys));
}

}  // namespace

void AttentionBackward(const Tensor& dout, const AttentionKept& kept, const AttentionHeads& heads,
                       Reproducible reproducible, Tensor& d_packed) {
  switch (KernelFor(dout, kept.form)) {
    case AttentionKernel::kCudnn:
      return gpu::AttentionBackward(dout, kept, heads, reproducible, d_packed);
    case AttentionKernel::kFlash:
      return gpu::FlashAttentionBackward(dout, kept, heads, d_packed);
    case AttentionKernel::kSdpa:
      return gpu::EfficientAttentionBackward(dout, kept, heads, d_packed);
    default:
      return ManualBackward(dout, kept, heads, d_packed);
  }
}

}  // namespace trainyard::trainer
