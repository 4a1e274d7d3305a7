// All differences between LibTorch versions: Debian's 1.13, and 2.6 or newer.
#ifndef TRAINYARD_TRAINER_OPS_TORCH_VERSION_H_
#define TRAINYARD_TRAINER_OPS_TORCH_VERSION_H_

#include <torch/types.h>
#include <torch/version.h>

#include <optional>

namespace trainyard::trainer {

#if TORCH_VERSION_MAJOR >= 2

inline constexpr bool kHasFusedAttention = true;

// Causal attention by LibTorch's fused kernels (cuDNN or flash on Hopper). Shapes as
// CausalAttention in ops/attention.h.
inline torch::Tensor FusedCausalAttention(const torch::Tensor& q, const torch::Tensor& k,
                                          const torch::Tensor& v) {
  const bool grouped = q.size(1) != k.size(1);
  return at::scaled_dot_product_attention(q, k, v, /*attn_mask=*/{}, /*dropout_p=*/0.0,
                                          /*is_causal=*/true, /*scale=*/std::nullopt, grouped);
}

#else

inline constexpr bool kHasFusedAttention = false;

// 1.13 has no public fused attention; callers ask kHasFusedAttention first.
inline torch::Tensor FusedCausalAttention(const torch::Tensor&, const torch::Tensor&,
                                          const torch::Tensor&) {
  TORCH_CHECK(false, "This LibTorch has no fused attention.");
}

#endif

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_OPS_TORCH_VERSION_H_
