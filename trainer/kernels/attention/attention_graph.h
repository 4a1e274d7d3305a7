// Builds attention graphs in the form that cuDNN's fused attention engines recognize.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_ATTENTION_GRAPH_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_ATTENTION_GRAPH_H_

#include "trainer/kernels/attention/attention.h"
#include "trainer/kernels/attention/cudnn_graph.h"

namespace trainyard::trainer::kernels {

// The tensors of the forward graph for which the caller provides memory.
struct AttentionForwardTensors {
  CudnnTensor query;
  CudnnTensor key;
  CudnnTensor value;
  CudnnTensor bias;  // unset if there is no bias
  CudnnTensor out;
  CudnnTensor log_sum_exp;
};

// The tensors of the backward graph for which the caller provides memory.
struct AttentionBackwardTensors {
  CudnnTensor query;
  CudnnTensor key;
  CudnnTensor value;
  CudnnTensor bias;  // unset if there is no bias
  CudnnTensor out;
  CudnnTensor dout;
  CudnnTensor log_sum_exp;
  CudnnTensor row_sum;  // temporary, fp32 [batch, query_heads, query_length]
  // Temporary, fp32 [batch, query_heads, query_length, head_size]. Unset in the deterministic
  // graph.
  CudnnTensor query_sum;
  CudnnTensor d_query;
  CudnnTensor d_key;
  CudnnTensor d_value;
};

AttentionForwardTensors BuildAttentionForward(const AttentionShape& shape, CudnnGraph& graph);

// Builds one of two graphs. If shape.deterministic is false, each block of keys adds its part of
// the query gradient to query_sum, in any order. If true, cuDNN stores the score gradient in its
// workspace (bf16 [batch, query_heads, query_length, key_length]), and a separate kernel multiplies
// the score gradient by the keys.
AttentionBackwardTensors BuildAttentionBackward(const AttentionShape& shape, CudnnGraph& graph);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_ATTENTION_GRAPH_H_
