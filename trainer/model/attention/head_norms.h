// RMSNorm of each query head and key head, applied before rotary positions (Dehghani et al. 2023,
// arXiv 2302.05442, with the RMSNorm of Qwen3, arXiv 2505.09388).
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_HEAD_NORMS_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_HEAD_NORMS_H_

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/model/parallel/tensor_parallel.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/model/pass/micro_batch.h"
#include "trainer/ops/tensors/attention_heads.h"

namespace trainyard::trainer {

// Has two weights [head_size], of which every tensor-parallel rank has a full copy. Because the
// ranks have different heads, each rank computes only a part of the gradients.
class HeadNorms {
 public:
  // Declares the weight for queries and the weight for keys. `prefix` precedes the block's logical
  // names.
  static std::vector<ParameterDeclaration> Declare(const std::string& prefix, int64_t head_size,
                                                   const TensorParallel& tensor);

  // `first_parameter` is the index of the query weight; the key weight follows it. The store must
  // outlive this object.
  HeadNorms(const ParameterStore& store, int64_t first_parameter, double epsilon)
      : store_(store), first_parameter_(first_parameter), epsilon_(epsilon) {}

  // Normalizes the query and key heads of packed rows (attention_heads.h) in place. Keeps the
  // tensors that Backward needs in the stash of `micro_batch`.
  void Forward(torch::Tensor& packed, const AttentionHeads& heads, MicroBatch& micro_batch) const;

  // On entry, d_packed contains the gradients of the normalized heads. Replaces these gradients
  // with the gradients of the heads before Forward.
  void Backward(torch::Tensor& d_packed, const AttentionHeads& heads, MicroBatch& micro_batch,
                WeightGradients& gradients) const;

 private:
  // Normalizes heads with the weight `parameter`. heads: [batch, length, heads, head_size].
  void Normalise(int64_t parameter, torch::Tensor heads, MicroBatch& micro_batch) const;
  void Differentiate(int64_t parameter, torch::Tensor d_heads, MicroBatch& micro_batch,
                     WeightGradients& gradients) const;

  const ParameterStore& store_;
  int64_t first_parameter_;
  double epsilon_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_HEAD_NORMS_H_
