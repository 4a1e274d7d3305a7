// Attention computed by LibTorch's kernels, without LibTorch's autograd.
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention_backward.h>

#include <array>
#include <optional>

#include "trainer/ops/attention/grouped_heads.h"
#include "trainer/ops/gpu.h"

namespace trainyard::trainer::gpu {
namespace {

using torch::Tensor;

// The columns of packed rows, each [batch, length, heads, head_size].
struct Columns {
  Tensor query;
  Tensor key;
  Tensor value;
};

Columns ColumnsOf(const Tensor& packed, const AttentionHeads& heads) {
  const int64_t queries = heads.query_heads, keys = heads.key_heads;
  return {packed.narrow(2, 0, queries), packed.narrow(2, queries, keys),
          packed.narrow(2, queries + keys, keys)};
}

// Returns how many earlier positions a query sees; nullopt if the query sees all of them.
std::optional<int64_t> Before(int64_t window) {
  return window == 0 ? std::nullopt : std::optional<int64_t>(window - 1);
}

std::optional<int64_t> After(int64_t window) {
  return window == 0 ? std::nullopt : std::optional<int64_t>(0);
}

// Returns dropout seeds, which LibTorch requires as arguments but does not use, because attention
// has no dropout.
Tensor NoSeed(const Tensor& like) { return torch::zeros({2}, like.options().dtype(torch::kInt64)); }

// Repeats each key head for the query heads that share it. Returns [batch, query heads, length,
// head_size].
Tensor PerQueryHead(const Tensor& rows, int64_t share) {
  return rows.transpose(1, 2).repeat_interleave(share, 1);
}

// Adds the gradients of the query heads that share a key head.
Tensor SumPerKeyHead(const Tensor& gradient, int64_t share) {
  const Tensor rows = gradient.transpose(1, 2);
  return rows.unflatten(2, {-1, share}).sum(3, /*keepdim=*/false, torch::kFloat32);
}

}  // namespace

Tensor FlashAttentionForward(const Tensor& packed, const AttentionHeads& heads, Tensor& out,
                             int64_t window) {
  const Columns of = ColumnsOf(packed, heads);
  const int64_t length = packed.size(1);
  const std::optional<double> scale = ScoreScale(heads.head_size);
  const auto result = at::_flash_attention_forward(
      of.query, of.key, of.value, std::nullopt, std::nullopt, length, length, /*dropout_p=*/0.0,
      /*is_causal=*/true, /*return_debug_mask=*/false, scale, Before(window), After(window));
  out.copy_(std::get<0>(result));
  return std::get<1>(result);
}

void FlashAttentionBackward(const Tensor& dout, const AttentionKept& kept,
                            const AttentionHeads& heads, Tensor& d_packed) {
  const Columns of = ColumnsOf(kept.packed, heads), into = ColumnsOf(d_packed, heads);
  const int64_t length = kept.packed.size(1), window = kept.form.limits.window;
  const std::optional<double> scale = ScoreScale(heads.head_size);
  const auto [d_query, d_key, d_value] = at::_flash_attention_backward(
      dout, of.query, of.key, of.value, kept.out, kept.softmax, Tensor(), Tensor(), length, length,
      /*dropout_p=*/0.0, /*is_causal=*/true, NoSeed(dout), NoSeed(dout), scale, Before(window),
      After(window));
  into.query.copy_(d_query);
  into.key.copy_(d_key);
  into.value.copy_(d_value);
}

Tensor EfficientAttentionForward(const Tensor& packed, const AttentionHeads& heads, Tensor& out) {
  const Columns of = ColumnsOf(packed, heads);
  const int64_t share = heads.query_heads / heads.key_heads;
  const auto result = at::_scaled_dot_product_efficient_attention(
      of.query.transpose(1, 2), PerQueryHead(of.key, share), PerQueryHead(of.value, share),
      std::nullopt, /*compute_log_sumexp=*/true, /*dropout_p=*/0.0, /*is_causal=*/true,
      ScoreScale(heads.head_size));
  out.copy_(std::get<0>(result).transpose(1, 2));
  return std::get<1>(result);
}

void EfficientAttentionBackward(const Tensor& dout, const AttentionKept& kept,
                                const AttentionHeads& heads, Tensor& d_packed) {
  const Columns of = ColumnsOf(kept.packed, heads), into = ColumnsOf(d_packed, heads);
  const int64_t share = heads.query_heads / heads.key_heads;
  const Tensor seed = NoSeed(dout).select(0, 0);
  const auto result = at::_scaled_dot_product_efficient_attention_backward(
      dout.transpose(1, 2), of.query.transpose(1, 2), PerQueryHead(of.key, share),
      PerQueryHead(of.value, share), /*attn_bias=*/Tensor(), kept.out.transpose(1, 2), kept.softmax,
      seed, seed, /*dropout_p=*/0.0, std::array<bool, 4>{true, true, true, false},
      /*is_causal=*/true, ScoreScale(heads.head_size));
  into.query.copy_(std::get<0>(result).transpose(1, 2));
  into.key.copy_(SumPerKeyHead(std::get<1>(result), share));
  into.value.copy_(SumPerKeyHead(std::get<2>(result), share));
}

}  // namespace trainyard::trainer::gpu
