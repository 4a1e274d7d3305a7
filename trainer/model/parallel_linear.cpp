#include "trainer/model/parallel_linear.h"

#include "trainer/ops/linear.h"

namespace trainyard::trainer {

using torch::Tensor;

Tensor RowParallelForward(const Tensor& x, const Tensor& weight, const Tensor& residual,
                          const TensorParallel& tensor) {
  Tensor y = torch::empty({x.size(0), weight.size(0)}, x.options());
  if (tensor.size() == 1) {
    LinearForwardWithResidual(x, weight, residual, y);
    return y;
  }
  LinearForward(x, weight, y);
  return tensor.Sum(y).add_(residual);
}

Tensor ColumnParallelBackward(const ColumnParallelPass& pass, int64_t weight,
                              const ParameterStore& store, const TensorParallel& tensor,
                              WeightGradients& gradients) {
  Tensor dx = torch::empty_like(pass.x);
  LinearInputGradient(pass.dy, store.Value(weight), dx);
  PendingTensor sum = tensor.BeginSum(dx);
  gradients.AddLinear(weight, pass.dy, pass.x);
  return sum.Get();
}

}  // namespace trainyard::trainer
