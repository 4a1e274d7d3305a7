// Merges two parts of attention: their outputs and log-sum-exps become those over the keys of both.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_MERGE_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_MERGE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/attention.h"
#include "trainer/kernels/element_type.h"

namespace trainyard::trainer::kernels {

// Strides of a tensor [batch, heads, length], in elements. The positions of a head are contiguous.
struct AttentionRowStrides {
  int64_t batch = 0;
  int64_t head = 0;
};

// With s = log_sum_exp of the sum and s' of the part: out_sum = (e^s out_sum + e^s' part_out) /
// (e^s + e^s'), and s becomes log(e^s + e^s'). One of the two may be -infinity; its output then has
// no weight, but must be finite.
struct MergeAttentionArguments {
  float* out_sum = nullptr;                 // [batch, length, heads, head_size]; updated
  float* log_sum_exp = nullptr;             // [batch, heads, length]; updated
  const void* part_out = nullptr;           // like out_sum, of `part_type`
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

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_MERGE_H_
