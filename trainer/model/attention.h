// Causal self-attention with grouped queries and, where the model has them, rotary positions. Its
// heads are cut over tensor-parallel ranks and its tokens over context-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_H_

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/layout_parts.h"
#include "proto/contract/run_config.h"
#include "trainer/model/head_norms.h"
#include "trainer/model/model_parallel.h"
#include "trainer/model/parallel_linear.h"
#include "trainer/model/parameter_store.h"
#include "trainer/model/residual_branch.h"
#include "trainer/ops/attention.h"
#include "trainer/ops/attention_heads.h"

namespace trainyard::trainer {

// The code that computes attention, and its gradients.
struct AttentionCode {
  AttentionKernel kernel = AttentionKernel::kAuto;
  Reproducible reproducible = Reproducible::kYes;
};

class Attention final : public ResidualBranch {
 public:
  struct Parameters {
    LinearParameters query_key_value;  // [(query heads + 2 * key heads) here * head size, hidden]
    LinearParameters output;           // [hidden, query heads here * head size]
    int64_t head_norms = -1;           // First of HeadNorms; -1 without them.
  };

  // The declarations, in the order of Parameters but for head_norms, each bias behind its matrix.
  // prefix: of the block's logical names.
  static std::vector<ParameterDeclaration> Declare(const ModelConfig& model,
                                                   const std::string& prefix,
                                                   const TensorParallel& tensor);

  // The store must outlive this.
  Attention(const ModelConfig& model, const ParameterStore& store, const Parameters& parameters,
            const AttentionCode& code, const ModelParallel& parallel);

  torch::Tensor Forward(const torch::Tensor& x, const torch::Tensor& residual,
                        MicroBatch& micro_batch) const override;
  torch::Tensor Backward(const torch::Tensor& dy, const torch::Tensor& x, MicroBatch& micro_batch,
                         WeightGradients& gradients) const override;

 private:
  // Heads of the projection, and of attention, which may use a key head more than once.
  torch::Tensor Spread(const torch::Tensor& projected) const;
  torch::Tensor SumSpread(const torch::Tensor& d_packed) const;
  AttentionForm FormFor(const MicroBatch& micro_batch) const;

  bool has_rotary_ = true;
  std::optional<HeadNorms> norms_;
  AttentionHeads projected_;
  AttentionHeads heads_;
  torch::Tensor spread_;  // int64 [heads_.packed_heads()]: heads of the projection; or undefined.
  const ParameterStore& store_;
  Parameters parameters_;
  AttentionCode code_;
  int64_t window_;  // model.window_size.
  ModelParallel parallel_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_H_
