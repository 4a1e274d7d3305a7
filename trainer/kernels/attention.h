// Causal self-attention with grouped queries on packed rows, by a cuDNN graph.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace trainyard::trainer::kernels {

// A packed row holds query_heads heads of queries, then key_heads heads of keys, then key_heads
// heads of values, each head_size elements. bf16.
struct AttentionShape {
  int64_t batch = 0;
  int64_t length = 0;
  int64_t query_heads = 0;
  int64_t key_heads = 0;  // Divides query_heads; query heads that follow each other share one.
  int64_t head_size = 0;
  bool deterministic = true;  // The backward pass gives equal bits in every run.

  bool operator==(const AttentionShape&) const = default;
};

struct AttentionForwardArguments {
  AttentionShape shape;
  const void* packed = nullptr;  // [batch, length, query_heads + 2 * key_heads, head_size]
  void* out = nullptr;           // [batch, length, query_heads, head_size]
  float* log_sum_exp = nullptr;  // [batch, query_heads, length], of the scaled scores
  void* workspace = nullptr;     // AttentionForwardWorkspaceBytes(shape) bytes
};

struct AttentionBackwardArguments {
  AttentionShape shape;
  const void* dout = nullptr;          // like out
  const void* packed = nullptr;        // from the forward pass
  const void* out = nullptr;           // from the forward pass
  const float* log_sum_exp = nullptr;  // from the forward pass
  void* d_packed = nullptr;            // like packed; every element is written
  void* workspace = nullptr;           // AttentionBackwardWorkspaceBytes(shape) bytes
};

// Bytes that a pass needs; deterministic backward passes need about 2 * batch * query_heads *
// length^2. The first call for a shape builds the plan of the pass, which is kept. Throw
// UnsupportedShape when cuDNN has no plan for the shape.
size_t AttentionForwardWorkspaceBytes(const AttentionShape& shape);
size_t AttentionBackwardWorkspaceBytes(const AttentionShape& shape);

// One thread at a time for each device. All memory must be aligned to 16 bytes.
void AttentionForward(const AttentionForwardArguments& arguments, cudaStream_t stream);
void AttentionBackward(const AttentionBackwardArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_H_
