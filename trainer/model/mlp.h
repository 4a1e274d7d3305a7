// The feed-forward branch. Its inner width is divided among tensor-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_MLP_H_
#define TRAINYARD_TRAINER_MODEL_MLP_H_

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/model_parallel.h"
#include "trainer/model/parallel_linear.h"
#include "trainer/model/parameter_store.h"
#include "trainer/model/residual_branch.h"
#include "trainer/model/tensor_parallel.h"

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
  const ParameterStore& store_;
  Parameters parameters_;
  Activation activation_;
  bool keeps_activation_;
  ModelParallel parallel_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_MLP_H_
