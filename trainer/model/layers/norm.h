// A norm layer of the model and its parameters.
#ifndef TRAINYARD_TRAINER_MODEL_LAYERS_NORM_H_
#define TRAINYARD_TRAINER_MODEL_LAYERS_NORM_H_

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/parallel/tensor_parallel.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/parameters/weight_gradients.h"

namespace trainyard::trainer {

// The kind of a model's norms and the number of their parameters.
struct NormForm {
  Normalization kind = Normalization::kRmsNorm;
  int64_t vectors = 1;  // Vectors per norm. 0: none; 1: weight; 2: weight and bias.
  double epsilon = 1e-5;
};

NormForm NormFormOf(const ModelConfig& model);

// Declares the vectors of a norm, [width], of which every tensor-parallel rank has a full copy.
// `name` does not include ".weight".
std::vector<ParameterDeclaration> DeclareNorm(const std::string& name, int64_t width,
                                              const NormForm& form, const TensorParallel& tensor);

class Norm {
 public:
  struct Result {
    torch::Tensor y;           // [rows, hidden]
    torch::Tensor statistics;  // In the compute type; used by the backward pass.
  };

  // `first_parameter` is the index of the weight; the bias follows it. The store must outlive this
  // object.
  Norm(const ParameterStore& store, int64_t first_parameter, const NormForm& form)
      : store_(store), first_parameter_(first_parameter), form_(form) {}

  // x: [rows, hidden].
  Result Forward(const torch::Tensor& x) const;

  // Returns the gradient of x, plus residual_gradient if it is defined. The result reuses the
  // memory of dy.
  torch::Tensor Backward(torch::Tensor dy, const torch::Tensor& x, const torch::Tensor& statistics,
                         const torch::Tensor& residual_gradient, WeightGradients& gradients) const;

 private:
  torch::Tensor Weight() const;
  torch::Tensor Bias() const;
  void LayerNormBackward(torch::Tensor& dy, const torch::Tensor& x, const torch::Tensor& statistics,
                         const torch::Tensor& residual_gradient, WeightGradients& gradients) const;

  const ParameterStore& store_;
  int64_t first_parameter_;
  NormForm form_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_LAYERS_NORM_H_
