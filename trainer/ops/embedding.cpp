#include "trainer/ops/embedding.h"

#include "trainer/ops/gpu.h"

namespace trainyard::trainer {

using torch::Tensor;

void EmbeddingForward(const Tensor& table, const Tensor& tokens, Tensor& out) {
  if (gpu::HasKernels(table)) return gpu::EmbeddingForward(table, tokens, out);
  at::index_select_out(out, table, 0, tokens);
}

void EmbeddingBackward(const Tensor& dy, const Tensor& tokens, const GradientTarget& target) {
  Tensor gradient = target.gradient;
  if (!target.accumulate) gradient.zero_();
  if (gpu::HasKernels(dy)) return gpu::EmbeddingBackward(dy, tokens, gradient);
  gradient.index_add_(0, tokens, dy.to(gradient.scalar_type()));
}

}  // namespace trainyard::trainer
