// The feed-forward branch. Its inner width is divided among tensor-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_LAYERS_MLP_H_
#define TRAINYARD_TRAINER_MODEL_LAYERS_MLP_H_

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/layers/parallel_linear.h"
#include "trainer/model/layers/residual_branch.h"
#include "trainer/model/parallel/model_parallel.h"
#include "trainer/model/parallel/tensor_parallel.h"
#include "trainer/model/parameters/parameter_store.h"

namespace trainyard::trainer {

class Mlp final : public ResidualBranch {
 public:
  struct Parameters {
    LinearParameters up;    // [ffn on this rank, hidden]; gated: twice the rows, gate first.
    LinearParameters down;  // [hidden, ffn here]
  };

  // Declares the parameters in the order of Parameters, each bias after its matrix. `prefix`
  // precedes the logical names of the layer. `ffn` is the inner width of the layer.
  static std::vector<ParameterDeclaration> Declare(const ModelConfig& model,
                                                   const std::string& prefix, int64_t ffn,
                                                   const TensorParallel& tensor);

  // If `keeps_activation` is false, the activation is recomputed in the backward pass. The store
  // must outlive this object.
  Mlp(const ParameterStore& store, const Parameters& parameters, Activation activation,
      bool keeps_activation, const ModelParallel& parallel)
      : store_(store),
        parameters_(parameters),
        activation_(activation),
        keeps_activation_(keeps_activation),
        parallel_(parallel) {}

  torch::Tensor Forward(const torch::Tensor& x, const torch::Tensor& residual,
                        MicroBatch& micro_batch) const override;
  torch::Tensor Backward(const torch::Tensor& dy, const torch::Tensor& x, MicroBatch& micro_batch,
                         WeightGradients& gradients) const override;

 private:
  int64_t InnerWidth() const { return store_.Value(parameters_.down.weight).size(1); }
  // The scales of the activation and of the gradient of its argument, if they are computed in FP8
  // at once; nullopt if they are cast later or never.
  std::optional<Fp8Scale> ScaleOfFusedActivation(const LinearUse& down) const;
  std::optional<Fp8Scale> ScaleOfFusedGradient(const LinearUse& up) const;
  LinearFactor Activated(const torch::Tensor& packed, const LinearUse& down) const;
  void Keep(LinearFactor activation, Stash& stash) const;
  LinearFactor Kept(Stash& stash) const;
  // The activation for the gradient of `down`.
  LinearFactor Recomputed(const torch::Tensor& packed, const LinearUse& down) const;

  const ParameterStore& store_;
  Parameters parameters_;
  Activation activation_;
  bool keeps_activation_;
  ModelParallel parallel_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_LAYERS_MLP_H_
