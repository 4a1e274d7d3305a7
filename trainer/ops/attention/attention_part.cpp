#include "trainer/ops/attention/attention_part.h"

#include <limits>

#include "trainer/ops/attention/grouped_heads.h"
#include "trainer/ops/gpu.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The heads of a part, stacked into matrices (grouped_heads.h), in the compute type.
struct PartMatrices {
  Tensor query;
  Tensor key;
  Tensor value;
};

PartMatrices MatricesOf(const AttentionPart& part) {
  const int64_t key_heads = part.key.size(2);
  return {WideStack(part.query, key_heads), WideStack(part.key, key_heads),
          WideStack(part.value, key_heads)};
}

void CheckLengths(const AttentionPart& part) {
  TORCH_CHECK(part.mask == AttentionMask::kNone || part.hidden.defined() ||
                  part.query.size(1) == part.key.size(1),
              "causal attention needs as many keys as queries, but this part has ",
              part.key.size(1), " keys and ", part.query.size(1),
              " queries; put the earlier keys into a separate part without a mask");
}

double ScaleOf(const AttentionPart& part) {
  return part.scale > 0 ? part.scale : ScoreScale(part.query.size(3));
}

bool IsFused(const AttentionPart& part) {
  return gpu::HasFusedAttention(part.query) && !part.hidden.defined() &&
         part.kernel != AttentionKernel::kManual;
}

// Returns the scaled scores, [batch * key_heads, queries of a group, key_length]. The score of a
// masked key is -infinity or a large negative number.
Tensor ScoresOf(const AttentionPart& part, const PartMatrices& matrices) {
  const auto options = matrices.query.options();
  const double scale = ScaleOf(part);
  if (part.hidden.defined()) {
    Tensor scores = at::bmm(matrices.query, matrices.key.transpose(1, 2)).mul_(scale);
    HideScores(part.hidden, scores);
    return scores;
  }
  Tensor mask = torch::zeros({1, 1}, options);
  if (part.mask == AttentionMask::kCausal) {
    const int64_t length = part.key.size(1), share = part.query.size(2) / part.key.size(2);
    const double minus_infinity = -std::numeric_limits<double>::infinity();
    mask = torch::full({length, length}, minus_infinity, options).triu_(1).repeat({share, 1});
  }
  return at::baddbmm(mask, matrices.query, matrices.key.transpose(1, 2), /*beta=*/1,
                     /*alpha=*/scale);
}

}  // namespace

Tensor AttentionPartForward(const AttentionPart& part, Tensor& out) {
  CheckLengths(part);
  if (IsFused(part)) return gpu::AttentionPartForward(part, out);
  const PartMatrices matrices = MatricesOf(part);
  Tensor scores = ScoresOf(part, matrices);
  const Tensor log_sum_exp = at::logsumexp(scores, -1, /*keepdim=*/true);
  UnstackHeads(at::bmm(scores.sub_(log_sum_exp).exp_(), matrices.value), out);
  return log_sum_exp.view({out.size(0), out.size(2), out.size(1)});
}

// P is the weights of this part's keys in the softmax over all keys. D is the sum of dO * O over a
// row. With dP = dO v^T, the gradient of the scores is dS = P * (dP - D).
void AttentionPartBackward(const AttentionPart& part, const WholeAttention& whole,
                           Reproducible reproducible, const AttentionPartGradients& gradients) {
  CheckLengths(part);
  if (IsFused(part)) {
    return gpu::AttentionPartBackward(part, whole, reproducible, gradients);
  }
  const int64_t key_heads = part.key.size(2);
  const PartMatrices matrices = MatricesOf(part);
  const Tensor dout = WideStack(whole.dout, key_heads);
  const Tensor row_sum = (dout * WideStack(whole.out, key_heads)).sum(-1, true);
  Tensor weights = ScoresOf(part, matrices);
  weights.sub_(whole.log_sum_exp.reshape({weights.size(0), weights.size(1), 1})).exp_();
  UnstackHeads(at::bmm(weights.transpose(1, 2), dout), gradients.value);
  const Tensor d_scores =
      at::bmm(dout, matrices.value.transpose(1, 2)).sub_(row_sum).mul_(weights).mul_(ScaleOf(part));
  UnstackHeads(at::bmm(d_scores, matrices.key), gradients.query);
  UnstackHeads(at::bmm(d_scores.transpose(1, 2), matrices.query), gradients.key);
}

// Exponents are taken relative to the larger of the two logarithms, so that the exponentials cannot
// overflow.
void MergeAttention(Tensor& out_sum, Tensor& log_sum_exp, const Tensor& part_out,
                    const Tensor& part_log_sum_exp) {
  if (gpu::HasKernels(part_out)) {
    return gpu::MergeAttention(out_sum, log_sum_exp, part_out, part_log_sum_exp);
  }
  const Tensor largest = at::maximum(log_sum_exp, part_log_sum_exp);
  const Tensor own = (log_sum_exp - largest).exp_(), other = (part_log_sum_exp - largest).exp_();
  const Tensor sum = own + other;
  const auto weight = [&](const Tensor& power) {
    return (power / sum).transpose(1, 2).unsqueeze(3);
  };
  out_sum.mul_(weight(own)).addcmul_(part_out.to(out_sum.scalar_type()), weight(other));
  log_sum_exp.copy_(largest + sum.log());
}

}  // namespace trainyard::trainer
