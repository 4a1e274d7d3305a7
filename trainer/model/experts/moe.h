// The feed-forward branch of a layer with experts (Shazeer et al. 2017, arXiv 1701.06538): each
// token is processed by its `topk` experts, and by the shared expert if there is one.
#ifndef TRAINYARD_TRAINER_MODEL_EXPERTS_MOE_H_
#define TRAINYARD_TRAINER_MODEL_EXPERTS_MOE_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/experts/experts.h"
#include "trainer/model/experts/router.h"
#include "trainer/model/experts/token_dispatch.h"
#include "trainer/model/layers/mlp.h"
#include "trainer/model/layers/residual_branch.h"
#include "trainer/model/parallel/model_parallel.h"

namespace trainyard::trainer {

class Moe final : public ResidualBranch {
 public:
  struct Parameters {
    int64_t router = 0;
    Experts::Parameters experts;
    Mlp::Parameters shared;  // Used only if the model has a shared expert.
  };

  // Declares the parameters that every rank has, in the order of Parameters: all but the experts.
  // `prefix` precedes the logical names of the feed-forward layer.
  static std::vector<ParameterDeclaration> Declare(const ModelConfig& model,
                                                   const std::string& prefix,
                                                   const TensorParallel& tensor);

  // `layer` is counted from 0 over the whole model. If `keeps_activations` is false, sorted rows
  // and activations are recomputed in the backward pass. The store must outlive this object.
  Moe(const ModelConfig& model, const ParameterStore& store, const Parameters& parameters,
      int64_t layer, bool keeps_activations, const ModelParallel& parallel);

  torch::Tensor Forward(const torch::Tensor& x, const torch::Tensor& residual,
                        MicroBatch& micro_batch) const override;
  torch::Tensor Backward(const torch::Tensor& dy, const torch::Tensor& x, MicroBatch& micro_batch,
                         WeightGradients& gradients) const override;

 private:
  const bool keeps_activations_;
  const int64_t expert_group_;  // The group of the experts' parameters in the store.
  Router router_;
  std::unique_ptr<TokenDispatch> dispatch_;
  Experts experts_;
  std::optional<Mlp> shared_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_EXPERTS_MOE_H_
