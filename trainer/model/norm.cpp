#include "trainer/model/norm.h"

#include "trainer/ops/compute_type.h"
#include "trainer/ops/rms_norm.h"

namespace trainyard::trainer {

using torch::Tensor;

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
