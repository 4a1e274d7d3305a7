#include "trainer/model/layers/norm.h"

#include <utility>

#include "proto/model/model_size.h"
#include "trainer/model/parameters/replicated_tensor.h"
#include "trainer/ops/norms/layer_norm.h"
#include "trainer/ops/norms/rms_norm.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

using torch::Tensor;

NormForm NormFormOf(const ModelConfig& model) {
  return {model.normalization, NormVectors(model), model.norm_epsilon};
}

std::vector<ParameterDeclaration> DeclareNorm(const std::string& name, int64_t width,
                                              const NormForm& form, const TensorParallel& tensor) {
  std::vector<ParameterDeclaration> all;
  if (form.vectors > 0) {
    all.push_back(DeclareReplicatedVector(name + ".weight", width, 1, tensor));
  }
  if (form.vectors > 1) {
    all.push_back(DeclareReplicatedVector(name + ".bias", width, 0, tensor));
  }
  return all;
}

Tensor Norm::Weight() const {
  return form_.vectors > 0 ? store_.Value(first_parameter_) : Tensor();
}

Tensor Norm::Bias() const {
  return form_.vectors > 1 ? store_.Value(first_parameter_ + 1) : Tensor();
}

Norm::Result Norm::Forward(const Tensor& x) const {
  const auto wide = x.options().dtype(ComputeType(x.scalar_type()));
  if (form_.kind == Normalization::kLayerNorm) {
    Result result{torch::empty_like(x), torch::empty({2, x.size(0)}, wide)};
    LayerNormForward(x, {Weight(), Bias()}, form_.epsilon, result.y, result.statistics);
    return result;
  }
  Result result{torch::empty_like(x), torch::empty({x.size(0)}, wide)};
  RmsNormForward(x, Weight(), form_.epsilon, result.y, result.statistics);
  return result;
}

Tensor Norm::Backward(Tensor dy, const Tensor& x, const Tensor& statistics,
                      const Tensor& residual_gradient, WeightGradients& gradients) const {
  if (form_.kind == Normalization::kLayerNorm) {
    LayerNormBackward(dy, x, statistics, residual_gradient, gradients);
  } else {
    RmsNormBackward(dy, {x, Weight(), statistics}, residual_gradient, dy,
                    gradients.Target(first_parameter_));
  }
  return dy;
}

void Norm::LayerNormBackward(Tensor& dy, const Tensor& x, const Tensor& statistics,
                             const Tensor& residual_gradient, WeightGradients& gradients) const {
  LayerNormTargets targets;
  if (form_.vectors > 0) targets.weight = gradients.Target(first_parameter_);
  if (form_.vectors > 1) targets.bias = gradients.Target(first_parameter_ + 1);
  trainer::LayerNormBackward(dy, {x, Weight(), statistics}, residual_gradient, dy, targets);
}

}  // namespace trainyard::trainer
