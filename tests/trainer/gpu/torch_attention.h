// LibTorch's fused attention, to compare errors with.
#ifndef TRAINYARD_TESTS_TRAINER_GPU_TORCH_ATTENTION_H_
#define TRAINYARD_TESTS_TRAINER_GPU_TORCH_ATTENTION_H_

#include <torch/types.h>

namespace trainyard::trainer {

// Causal. query: [batch, query_heads, length, head_size]; key and value: of fewer heads, each of
// which serves query heads that follow each other.
inline torch::Tensor TorchAttention(const torch::Tensor& query, const torch::Tensor& key,
                                    const torch::Tensor& value) {
  const int64_t share = query.size(1) / key.size(1);
  return at::scaled_dot_product_attention(query, key.repeat_interleave(share, 1),
                                          value.repeat_interleave(share, 1), {}, 0.0,
                                          /*is_causal=*/true);
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_GPU_TORCH_ATTENTION_H_
