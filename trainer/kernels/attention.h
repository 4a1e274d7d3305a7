// Grouped-query attention over all or part of the keys, using a cuDNN graph.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace trainyard::trainer::kernels {

// Strides of a tensor [batch, length, heads, head_size], in elements. The heads of a token are
// contiguous.
struct AttentionStrides {
  int64_t batch = 0;
  int64_t token = 0;

  bool operator==(const AttentionStrides&) const = default;
};

// Tensors are bf16. The strides support columns of packed rows, halves of sequences and tensors
// without gaps.
struct AttentionShape {
  int64_t batch = 0;
  int64_t query_length = 0;
  int64_t key_length = 0;
  int64_t query_heads = 0;
  int64_t key_heads = 0;  // Divides query_heads; consecutive query heads share one.
  int64_t head_size = 0;
  bool causal = true;         // Query i sees keys 0..i of query_length keys. False: all keys.
  int64_t window = 0;         // If causal, query i sees the last `window` of its keys; 0: all.
  bool biased = false;        // A bias is added to the scaled scores.
  bool deterministic = true;  // The backward pass has equal bits in every run.
  AttentionStrides query;
  AttentionStrides key;
  AttentionStrides value;
  AttentionStrides out;
  // Only for the backward pass.
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
  const void* value = nullptr;   // like key
  const void* bias = nullptr;    // if biased: [batch, query_length, key_length] without gaps
  void* out = nullptr;           // like query
  float* log_sum_exp = nullptr;  // [batch, query_heads, query_length], of the scaled scores
  void* workspace = nullptr;     // AttentionForwardWorkspaceBytes(shape) bytes
};

// out and log_sum_exp may belong to a softmax over more keys. The gradients then are the part due
// to these keys.
struct AttentionBackwardArguments {
  AttentionShape shape;
  const void* dout = nullptr;  // like out
  const void* query = nullptr;
  const void* key = nullptr;
  const void* value = nullptr;
  const void* bias = nullptr;  // as in the forward pass
  const void* out = nullptr;
  const float* log_sum_exp = nullptr;
  void* d_query = nullptr;    // like query; all elements of all three gradients are written
  void* d_key = nullptr;      // like key
  void* d_value = nullptr;    // like key
  void* workspace = nullptr;  // AttentionBackwardWorkspaceBytes(shape) bytes
};

// Workspace size of a pass in bytes. Deterministic backward passes need about 2 * batch *
// query_heads * query_length * key_length. The first call for a shape builds the plan of the pass,
// which is cached. Throw UnsupportedShape if cuDNN has no plan for the shape.
size_t AttentionForwardWorkspaceBytes(const AttentionShape& shape);
size_t AttentionBackwardWorkspaceBytes(const AttentionShape& shape);

// Not thread-safe per device. All memory must be 16-byte aligned.
void AttentionForward(const AttentionForwardArguments& arguments, cudaStream_t stream);
void AttentionBackward(const AttentionBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_H_
