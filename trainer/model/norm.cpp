#include "trainer/model/norm.h"

#include <utility>

#include "trainer/ops/compute_type.h"
#include "trainer/ops/rms_norm.h"

namespace trainyard::trainer {

using torch::Tensor;

// Ranks that have a part of the rows have that part of the gradient.
ParameterDeclaration DeclareNorm(const std::string& name, int64_t width,
                                 const TensorParallel& tensor) {
  LogicalTensorSlice weight = WholeLogicalTensor(name, {width}, 0);
  weight.is_first_holder = tensor.index() == 0;
  weight.has_partial_gradient = tensor.splits_rows();
  return {{std::move(weight)}, /*decays=*/false};
}

Norm::Result Norm::Forward(const Tensor& x) const {
  Result result{torch::empty_like(x),
                torch::empty({x.size(0)}, x.options().dtype(ComputeType(x.scalar_type())))};
  RmsNormForward(x, store_.Value(parameter_), epsilon_, result.y, result.inverse_rms);
  return result;
}

Tensor Norm::Backward(Tensor dy, const Tensor& x, const Tensor& inverse_rms,
                      const Tensor& residual_gradient, WeightGradients& gradients) const {
  RmsNormBackward(dy, {x, store_.Value(parameter_), inverse_rms}, residual_gradient, dy,
                  gradients.Target(parameter_));
  return dy;
}

}  // namespace trainyard::trainer
