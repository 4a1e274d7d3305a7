// The operations as formulas on fp64 tensors, for autograd: nothing of the product in them.
#ifndef TRAINYARD_TESTS_TRAINER_OPS_REFERENCES_H_
#define TRAINYARD_TESTS_TRAINER_OPS_REFERENCES_H_

#include <torch/types.h>

#include <cmath>

#include "trainer/ops/attention_heads.h"

namespace trainyard::trainer::reference {

inline torch::Tensor RmsNorm(const torch::Tensor& x, const torch::Tensor& weight, double epsilon) {
  return x / (x * x).mean(-1, true).add(epsilon).sqrt() * weight;
}

inline torch::Tensor SwiGlu(const torch::Tensor& packed) {
  const int64_t width = packed.size(-1) / 2;
  const torch::Tensor gate = packed.narrow(-1, 0, width);
  return gate / (1 + (-gate).exp()) * packed.narrow(-1, width, width);
}

// heads: [batch, length, heads, head_size]; cos and sin: [length, head_size / 2].
inline torch::Tensor Rotate(const torch::Tensor& heads, const torch::Tensor& cos,
                            const torch::Tensor& sin) {
  const int64_t half = heads.size(-1) / 2;
  const torch::Tensor a = heads.narrow(-1, 0, half), b = heads.narrow(-1, half, half);
  const torch::Tensor c = cos.unsqueeze(1), s = sin.unsqueeze(1);
  return torch::cat({a * c - b * s, b * c + a * s}, -1);
}

// packed: as attention_heads.h says; returns [batch, length, query_heads, head_size].
inline torch::Tensor Attention(const torch::Tensor& packed, const AttentionHeads& heads) {
  const int64_t length = packed.size(1), share = heads.query_heads / heads.key_heads;
  const auto part = [&](int64_t first, int64_t count) {
    return packed.narrow(2, first, count).transpose(1, 2);
  };
  const torch::Tensor query = part(0, heads.query_heads);
  const torch::Tensor key = part(heads.query_heads, heads.key_heads).repeat_interleave(share, 1);
  const torch::Tensor value =
      part(heads.query_heads + heads.key_heads, heads.key_heads).repeat_interleave(share, 1);
  const torch::Tensor scores =
      query.matmul(key.transpose(2, 3)) / std::sqrt(static_cast<double>(heads.head_size));
  const torch::Tensor future =
      torch::ones({length, length}, packed.options().dtype(torch::kBool)).triu(1);
  const torch::Tensor weights = at::softmax(scores.masked_fill(future, -1e300), -1);
  return weights.matmul(value).transpose(1, 2);
}

// weights: of each row in the sum.
inline torch::Tensor CrossEntropy(const torch::Tensor& logits, const torch::Tensor& targets,
                                  const torch::Tensor& weights) {
  const torch::Tensor chances = at::log_softmax(logits, -1);
  return -(chances.gather(1, targets.unsqueeze(1)).squeeze(1) * weights).sum();
}

}  // namespace trainyard::trainer::reference

#endif  // TRAINYARD_TESTS_TRAINER_OPS_REFERENCES_H_
