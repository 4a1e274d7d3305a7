// Causal self-attention with grouped queries and optional rotary positions. Heads are divided among
// tensor-parallel ranks, and tokens among context-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_ATTENTION_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_ATTENTION_H_

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "proto/layout/layout_parts.h"
#include "trainer/model/attention/context_attention.h"
#include "trainer/model/attention/exchanged_attention.h"
#include "trainer/model/attention/head_norms.h"
#include "trainer/model/layers/parallel_linear.h"
#include "trainer/model/layers/residual_branch.h"
#include "trainer/model/parallel/model_parallel.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/ops/attention/attention.h"
#include "trainer/ops/tensors/attention_heads.h"

namespace trainyard::trainer {

// The implementation of attention, and whether its gradients are reproducible.
struct AttentionCode {
  AttentionKernel kernel = AttentionKernel::kAuto;
  Reproducible reproducible = Reproducible::kYes;
};

// Returns the form of attention in a micro-batch. Omits a window that covers whole samples.
AttentionForm FormFor(const MicroBatch& micro_batch, const ModelConfig& model,
                      AttentionKernel kernel, const ContextParallel& context);

class Attention final : public ResidualBranch {
 public:
  struct Parameters {
    LinearParameters query_key_value;  // [(own query + 2 * own key heads) * head size, hidden]
    LinearParameters output;           // [hidden, own query heads * head size]
    int64_t head_norms = -1;           // Index of the first parameter of HeadNorms; -1: none.
  };

  // Declares the parameters in the order of Parameters, each bias after its matrix, without
  // head_norms. `prefix` precedes the block's logical names.
  static std::vector<ParameterDeclaration> Declare(const ModelConfig& model,
                                                   const std::string& prefix,
                                                   const TensorParallel& tensor);

  // The store must outlive this object.
  Attention(const ModelConfig& model, const ParameterStore& store, const Parameters& parameters,
            const AttentionCode& code, const ModelParallel& parallel);

  torch::Tensor Forward(const torch::Tensor& x, const torch::Tensor& residual,
                        MicroBatch& micro_batch) const override;
  torch::Tensor Backward(const torch::Tensor& dy, const torch::Tensor& x, MicroBatch& micro_batch,
                         WeightGradients& gradients) const override;

 private:
  struct OutputTensors {
    const torch::Tensor& out;
    const torch::Tensor& residual;
  };
  struct ProjectionTensors {
    const torch::Tensor& x;
    const torch::Tensor& d_packed;
  };

  LinearUse ProjectionUse(MicroBatch& micro_batch) const;
  LinearUse OutputUse(MicroBatch& micro_batch) const;
  torch::Tensor NewResult(const torch::Tensor& x, const MicroBatch& micro_batch) const;
  // Project returns the rotated heads of x. ProjectBack returns the gradient of x.
  torch::Tensor Project(const torch::Tensor& x, MicroBatch& micro_batch) const;
  torch::Tensor ProjectBack(const torch::Tensor& d_packed, const torch::Tensor& x,
                            MicroBatch& micro_batch, WeightGradients& gradients) const;
  // The passes for ranks that exchange tokens for heads. If OverlapsProducts, the products with the
  // matrices are divided by samples too, so that some samples travel during the products of others.
  // FP8, norms of heads and tensor parallelism need all samples at once.
  bool OverlapsProducts(MicroBatch& micro_batch) const;
  torch::Tensor ExchangedForward(const torch::Tensor& x, const torch::Tensor& residual,
                                 MicroBatch& micro_batch) const;
  void ProjectPart(const torch::Tensor& x, const IndexRange& samples, MicroBatch& micro_batch,
                   const torch::Tensor& packed) const;
  void MultiplyOutputPart(const OutputTensors& tensors, const IndexRange& samples,
                          MicroBatch& micro_batch, const torch::Tensor& y) const;
  torch::Tensor OverlappedInputGradient(ExchangedAttentionBackward& exchanged,
                                        const ProjectionTensors& tensors, MicroBatch& micro_batch,
                                        WeightGradients& gradients) const;
  // Spread copies each projection head to the attention heads that use it, because several
  // attention heads may use the same key head. SumSpread sums the gradients of these attention
  // heads.
  torch::Tensor Spread(const torch::Tensor& projected) const;
  torch::Tensor SumSpread(const torch::Tensor& d_packed) const;
  // Returns views of packed rows.
  AttentionInputs InputsOf(const torch::Tensor& packed) const;

  bool has_rotary_ = true;
  std::optional<HeadNorms> norms_;
  AttentionHeads projected_;
  AttentionHeads heads_;
  torch::Tensor spread_;  // int64 [heads_.packed_heads()]: see SpreadOf; may be undefined.
  const ParameterStore& store_;
  Parameters parameters_;
  AttentionCode code_;
  ModelConfig model_;
  ModelParallel parallel_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_ATTENTION_H_
