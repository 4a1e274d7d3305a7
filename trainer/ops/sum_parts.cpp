#include "trainer/ops/sum_parts.h"

#include "trainer/ops/gpu.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

using torch::Tensor;

void SumParts(const std::vector<Tensor>& parts, const Tensor& residual, Tensor& sum) {
  if (gpu::HasKernels(sum)) return gpu::SumParts(parts, residual, sum);
  const torch::ScalarType wide = ComputeType(sum.scalar_type());
  Tensor total = parts.front().to(wide, /*non_blocking=*/false, /*copy=*/true);
  for (size_t part = 1; part < parts.size(); ++part) total.add_(parts[part].to(wide));
  const Tensor rounded = total.to(sum.scalar_type());
  sum.copy_(residual.defined() ? rounded + residual : rounded);
}

}  // namespace trainyard::trainer
