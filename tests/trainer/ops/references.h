// The operations as formulas on fp64 tensors, with gradients by autograd. They use none of the
// trainer's code.
#ifndef TRAINYARD_TESTS_TRAINER_OPS_REFERENCES_H_
#define TRAINYARD_TESTS_TRAINER_OPS_REFERENCES_H_

#include <torch/types.h>

#include <cmath>

#include "trainer/ops/tensors/attention_heads.h"

namespace trainyard::trainer::reference {

inline torch::Tensor RmsNorm(const torch::Tensor& x, const torch::Tensor& weight, double epsilon) {
  return x / (x * x).mean(-1, true).add(epsilon).sqrt() * weight;
}

inline torch::Tensor SwiGlu(const torch::Tensor& packed) {
  const int64_t width = packed.size(-1) / 2;
  const torch::Tensor gate = packed.narrow(-1, 0, width);
  return gate / (1 + (-gate).exp()) * packed.narrow(-1, width, width);
}

// Returns x * P(X < x) for a standard normal X.
inline torch::Tensor Gelu(const torch::Tensor& x) {
  return x * (1 + torch::erf(x / std::sqrt(2.0))) / 2;
}

inline torch::Tensor GeluTanh(const torch::Tensor& x) {
  return x * (1 + torch::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x.pow(3)))) / 2;
}

inline torch::Tensor SquaredRelu(const torch::Tensor& x) { return x.clamp_min(0).pow(2); }

// `heads` is [batch, length, heads, head_size]. `cos` and `sin` are [length, head_size / 2].
inline torch::Tensor Rotate(const torch::Tensor& heads, const torch::Tensor& cos,
                            const torch::Tensor& sin) {
  const int64_t half = heads.size(-1) / 2;
  const torch::Tensor a = heads.narrow(-1, 0, half), b = heads.narrow(-1, half, half);
  const torch::Tensor c = cos.unsqueeze(1), s = sin.unsqueeze(1);
  return torch::cat({a * c - b * s, b * c + a * s}, -1);
}

// Returns the scaled products of `query` [batch, queries, query_heads, head_size] and `key` [batch,
// keys, key_heads, head_size], as [batch, query_heads, queries, keys]. If `causal` is true, the
// scores of keys after the query are -1e300.
inline torch::Tensor Scores(const torch::Tensor& query, const torch::Tensor& key, bool causal) {
  const int64_t share = query.size(2) / key.size(2);
  const torch::Tensor keys = key.transpose(1, 2).repeat_interleave(share, 1);
  const torch::Tensor scores = query.transpose(1, 2).matmul(keys.transpose(2, 3)) /
                               std::sqrt(static_cast<double>(query.size(3)));
  if (!causal) return scores;
  const torch::Tensor future =
      torch::ones({query.size(1), key.size(1)}, query.options().dtype(torch::kBool)).triu(1);
  return scores.masked_fill(future, -1e300);
}

// Returns the values weighted by the softmax of the scores, as [batch, queries, query_heads,
// head_size].
inline torch::Tensor WeightedValues(const torch::Tensor& scores, const torch::Tensor& value) {
  const int64_t share = scores.size(1) / value.size(2);
  return at::softmax(scores, -1)
      .matmul(value.transpose(1, 2).repeat_interleave(share, 1))
      .transpose(1, 2);
}

// `packed` is as described in attention_heads.h. Returns [batch, length, query_heads, head_size].
inline torch::Tensor Attention(const torch::Tensor& packed, const AttentionHeads& heads) {
  const int64_t queries = heads.query_heads, keys = heads.key_heads;
  const torch::Tensor scores = Scores(packed.narrow(2, 0, queries), packed.narrow(2, queries, keys),
                                      /*causal=*/true);
  return WeightedValues(scores, packed.narrow(2, queries + keys, keys));
}

// `weights` is [rows]: the weight of each row in the sum.
inline torch::Tensor CrossEntropy(const torch::Tensor& logits, const torch::Tensor& targets,
                                  const torch::Tensor& weights) {
  const torch::Tensor chances = at::log_softmax(logits, -1);
  return -(chances.gather(1, targets.unsqueeze(1)).squeeze(1) * weights).sum();
}

}  // namespace trainyard::trainer::reference

#endif  // TRAINYARD_TESTS_TRAINER_OPS_REFERENCES_H_
