// Attention graphs in the form recognised by cuDNN's fused attention engines.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_GRAPH_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_GRAPH_H_

#include "trainer/kernels/attention.h"
#include "trainer/kernels/cudnn_graph.h"

namespace trainyard::trainer::kernels {

// Tensors of the forward graph that need memory.
struct AttentionForwardTensors {
  CudnnTensor query;
  CudnnTensor key;
  CudnnTensor value;
  CudnnTensor bias;  // unset without a bias
  CudnnTensor out;
  CudnnTensor log_sum_exp;
};

// Tensors of the backward graph that need memory.
struct AttentionBackwardTensors {
  CudnnTensor query;
  CudnnTensor key;
  CudnnTensor value;
  CudnnTensor bias;  // unset without a bias
  CudnnTensor out;
  CudnnTensor dout;
  CudnnTensor log_sum_exp;
  CudnnTensor row_sum;  // fp32 [batch, query_heads, query_length], temporary
  // fp32 [batch, query_heads, query_length, head_size], temporary; unset in the deterministic
  // graph.
  CudnnTensor query_sum;
  CudnnTensor d_query;
  CudnnTensor d_key;
  CudnnTensor d_value;
};

AttentionForwardTensors BuildAttentionForward(const AttentionShape& shape, CudnnGraph& graph);

// Builds one of two graphs. Without shape.deterministic, blocks of keys add their parts of the
// query gradient to query_sum in any order. With it, cuDNN stores the score gradient in its
// workspace (bf16 [batch, query_heads, query_length, key_length]) and multiplies it by the keys in
// a separate kernel.
AttentionBackwardTensors BuildAttentionBackward(const AttentionShape& shape, CudnnGraph& graph);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_GRAPH_H_
