#include "trainer/ops/loss/cross_entropy.h"

#include <algorithm>

#include "trainer/ops/gpu.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

using torch::Tensor;

void CrossEntropy(Tensor& logits, const Targets& targets, LossPass pass, Tensor& loss) {
  if (gpu::HasKernels(logits)) return gpu::CrossEntropy(logits, targets, pass, loss);
  const auto compute = ComputeType(logits.scalar_type());
  const Tensor index = targets.tokens.unsqueeze(1);
  const Tensor weights = targets.weights.to(compute).unsqueeze(1);
  Tensor chances = at::log_softmax(logits, 1, compute);
  loss.sub_((chances.gather(1, index) * weights).to(torch::kFloat64).sum());
  if (pass == LossPass::kLossOnly) return;
  chances.exp_();
  chances.scatter_(1, index, chances.gather(1, index).sub_(1));
  if (logits.scalar_type() == compute) {
    at::mul_out(logits, chances, weights);
  } else {
    logits.copy_(chances.mul_(weights));
  }
}

int64_t CrossEntropyRowsPerChunk(int64_t vocabulary, torch::Device device) {
  constexpr int64_t kGpuRows = 8192;  // Fills GEMM tiles; 2 GB of bf16 logits for 128,256 tokens.
  constexpr int64_t kCpuLogits = int64_t{1} << 20;  // 4 MiB in fp32.
  return device.is_cuda() ? kGpuRows : std::max<int64_t>(kCpuLogits / vocabulary, 64);
}

}  // namespace trainyard::trainer
