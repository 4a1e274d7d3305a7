// Merges two parts of an attention over different keys. The result has the output and the
// log-sum-exp of the attention over the keys of both parts.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_ATTENTION_MERGE_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_ATTENTION_MERGE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/attention/attention.h"
#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Strides, in elements, of a tensor [batch, heads, length]. The positions of one head are
// contiguous.
struct AttentionRowStrides {
  int64_t batch = 0;
  int64_t head = 0;
};

// Merges a part into the sum. Let s be log_sum_exp, and s' part_log_sum_exp. Then out_sum becomes
// (e^s out_sum + e^s' part_out) / (e^s + e^s'), and s becomes log(e^s + e^s'). Either s or s' may
// be -infinity. The output with that log-sum-exp gets weight 0, but must be finite.
struct MergeAttentionArguments {
  float* out_sum = nullptr;                 // [batch, length, heads, head_size]; updated in place
  float* log_sum_exp = nullptr;             // [batch, heads, length]; updated in place
  const void* part_out = nullptr;           // same shape as out_sum, of `part_type`
  const float* part_log_sum_exp = nullptr;  // like log_sum_exp
  AttentionStrides out_sum_strides;
  AttentionRowStrides log_sum_exp_strides;
  AttentionStrides part_out_strides;
  AttentionRowStrides part_log_sum_exp_strides;
  int64_t batch = 0;
  int64_t length = 0;
  int64_t heads = 0;
  int64_t head_size = 0;
  ElementType part_type = ElementType::kBFloat16;
};

void MergeAttention(const MergeAttentionArguments& arguments, cudaStream_t stream);

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_ATTENTION_MERGE_H_
