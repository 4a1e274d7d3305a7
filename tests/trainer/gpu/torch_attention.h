// LibTorch's fused attention. Tests compare the errors of our kernels with its errors.
#ifndef TRAINYARD_TESTS_TRAINER_GPU_TORCH_ATTENTION_H_
#define TRAINYARD_TESTS_TRAINER_GPU_TORCH_ATTENTION_H_

#include <torch/types.h>

namespace trainyard::trainer {

// `query` is [batch, query_heads, queries, head_size]. `key` and `value` may have fewer heads, each
// for several consecutive query heads. If `causal` is true, there must be as many keys as queries.
inline torch::Tensor TorchAttentionOfPart(const torch::Tensor& query, const torch::Tensor& key,
                                          const torch::Tensor& value, bool causal) {
  const int64_t share = query.size(1) / key.size(1);
  return at::scaled_dot_product_attention(query, key.repeat_interleave(share, 1),
                                          value.repeat_interleave(share, 1), {}, 0.0, causal);
}

// Attention over one sequence, with a causal mask.
inline torch::Tensor TorchAttention(const torch::Tensor& query, const torch::Tensor& key,
                                    const torch::Tensor& value) {
  return TorchAttentionOfPart(query, key, value, /*causal=*/true);
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_GPU_TORCH_ATTENTION_H_
