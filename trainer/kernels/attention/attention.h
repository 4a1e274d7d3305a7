// Grouped-query attention over all keys or a part of them, computed by a cuDNN graph.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_ATTENTION_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_ATTENTION_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Strides, in elements, of a tensor [batch, length, heads, head_size]. The elements of a head are
// contiguous.
struct AttentionStrides {
  int64_t batch = 0;
  int64_t token = 0;
  int64_t head = 0;  // head_size if there are no gaps between heads.

  bool operator==(const AttentionStrides&) const = default;
};

// Sizes, strides and options of an attention. All tensors have the same 16-bit type. The strides
// may describe columns of packed rows, halves of sequences, or tensors without gaps.
struct AttentionShape {
  ElementType type = ElementType::kBFloat16;  // kBFloat16 or kFloat16.
  int64_t batch = 0;
  int64_t query_length = 0;
  int64_t key_length = 0;
  int64_t query_heads = 0;
  int64_t key_heads = 0;        // Divides query_heads. Consecutive query heads share a key head.
  int64_t head_size = 0;        // Head size of queries and keys.
  int64_t value_head_size = 0;  // Head size of values and outputs.
  float scale = 0;              // Factor of the scores.
  bool causal = true;         // True: query i sees keys 0..i of query_length keys. False: all keys.
  int64_t window = 0;         // If causal, a query sees only its last `window` keys; 0: all.
  bool biased = false;        // True if a bias is added to the scaled scores.
  bool deterministic = true;  // True: the backward pass gives the same bits in every run.
  AttentionStrides query;
  AttentionStrides key;
  AttentionStrides value;
  AttentionStrides out;
  // Used only in the backward pass.
  AttentionStrides dout;
  AttentionStrides d_query;
  AttentionStrides d_key;
  AttentionStrides d_value;

  bool operator==(const AttentionShape&) const = default;
};

struct AttentionForwardArguments {
  AttentionShape shape;
  const void* query = nullptr;   // [batch, query_length, query_heads, head_size]
  const void* key = nullptr;     // [batch, key_length, key_heads, head_size]
  const void* value = nullptr;   // [batch, key_length, key_heads, value_head_size]
  const void* bias = nullptr;    // if biased: [batch, query_length, key_length] without gaps
  void* out = nullptr;           // [batch, query_length, query_heads, value_head_size]
  float* log_sum_exp = nullptr;  // [batch, query_heads, query_length], of the scaled scores
  void* workspace = nullptr;     // AttentionForwardWorkspaceBytes(shape) bytes
};

// `out` and `log_sum_exp` may come from a softmax over more keys. The gradients are then only the
// contribution of the keys given here.
struct AttentionBackwardArguments {
  AttentionShape shape;
  const void* dout = nullptr;  // like out
  const void* query = nullptr;
  const void* key = nullptr;
  const void* value = nullptr;
  const void* bias = nullptr;  // as in the forward pass
  const void* out = nullptr;
  const float* log_sum_exp = nullptr;
  void* d_query = nullptr;    // like query. Every element of all three gradients is overwritten.
  void* d_key = nullptr;      // like key
  void* d_value = nullptr;    // like value
  void* workspace = nullptr;  // AttentionBackwardWorkspaceBytes(shape) bytes
};

// Return the workspace size of a pass in bytes. A deterministic backward pass needs about 2 * batch
// * query_heads * query_length * key_length bytes. The first call for a shape builds the plan of
// the pass and caches it. Both functions throw UnsupportedShape if cuDNN has no plan for the shape.
size_t AttentionForwardWorkspaceBytes(const AttentionShape& shape);
size_t AttentionBackwardWorkspaceBytes(const AttentionShape& shape);

// Only one thread per device may call these functions at a time. All memory must be aligned to 16
// bytes.
void AttentionForward(const AttentionForwardArguments& arguments, cudaStream_t stream);
void AttentionBackward(const AttentionBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_ATTENTION_H_
