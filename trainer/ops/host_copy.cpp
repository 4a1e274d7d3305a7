#include "trainer/ops/host_copy.h"

#include "trainer/ops/gpu.h"

namespace trainyard::trainer {

HostTensor BeginHostCopy(const torch::Tensor& source) {
  if (source.is_cuda()) return gpu::BeginHostCopy(source);
  return {source.to(torch::kCPU), {}};
}

}  // namespace trainyard::trainer
