#include "trainer/ops/linear/wide_linear.h"

#include "trainer/ops/gpu.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

using torch::Tensor;

Tensor WideLinearForward(const Tensor& x, const Tensor& weight) {
  if (gpu::HasKernels(x)) return gpu::WideLinearForward(x, weight);
  const auto compute = ComputeType(x.scalar_type());
  return at::mm(x.to(compute), weight.to(compute).t());
}

void AddWideLinearInputGradient(const Tensor& dy, const Tensor& weight, Tensor& dx) {
  if (gpu::HasKernels(dx)) return gpu::AddWideLinearInputGradient(dy, weight, dx);
  dx.add_(at::mm(dy, weight.to(dy.scalar_type())));
}

}  // namespace trainyard::trainer
