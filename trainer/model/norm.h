// A norm of the model, with its parameters.
#ifndef TRAINYARD_TRAINER_MODEL_NORM_H_
#define TRAINYARD_TRAINER_MODEL_NORM_H_

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/parameter_store.h"
#include "trainer/model/tensor_parallel.h"
#include "trainer/model/weight_gradients.h"

namespace trainyard::trainer {

// Kind and parameters of a model's norms.
struct NormForm {
  Normalization kind = Normalization::kRmsNorm;
  int64_t vectors = 1;  // Vectors per norm: 1 weight, 2 with a bias, 0 none.
  double epsilon = 1e-5;
};

NormForm NormFormOf(const ModelConfig& model);

// Vectors [width], replicated on every tensor-parallel rank. name: without ".weight".
std::vector<ParameterDeclaration> DeclareNorm(const std::string& name, int64_t width,
                                              const NormForm& form, const TensorParallel& tensor);

class Norm {
 public:
  struct Result {
    torch::Tensor y;           // [rows, hidden]
    torch::Tensor statistics;  // For the backward pass, in the compute type.
  };

  // first_parameter: index of the weight; the bias follows. The store must outlive this.
  Norm(const ParameterStore& store, int64_t first_parameter, const NormForm& form)
      : store_(store), first_parameter_(first_parameter), form_(form) {}

  // x: [rows, hidden].
  Result Forward(const torch::Tensor& x) const;

  // Returns the gradient of x, plus residual_gradient if defined, in the memory of dy.
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

#endif  // TRAINYARD_TRAINER_MODEL_NORM_H_
