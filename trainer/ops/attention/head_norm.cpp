#include "trainer/ops/attention/head_norm.h"

#include "trainer/ops/gpu.h"
#include "trainer/ops/norms/rms_norm.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns a contiguous copy with one head per row.
Tensor RowsOf(const Tensor& heads) {
  return heads.reshape({-1, heads.size(3)}).clone(at::MemoryFormat::Contiguous);
}

}  // namespace

void HeadNormForward(Tensor& heads, const Tensor& weight, double epsilon, HeadNormKept& kept) {
  if (gpu::HasKernels(heads)) return gpu::HeadNormForward(heads, weight, epsilon, kept);
  const Tensor rows = RowsOf(heads);
  Tensor normal = torch::empty_like(rows);
  RmsNormForward(rows, weight, epsilon, normal, kept.inverse_rms);
  if (kept.x.defined()) kept.x.copy_(rows);
  heads.copy_(normal.view(heads.sizes()));
}

void HeadNormBackward(Tensor& d_heads, const Tensor& weight, const HeadNormKept& kept,
                      const GradientTarget& weight_gradient) {
  if (gpu::HasKernels(d_heads)) {
    return gpu::HeadNormBackward(d_heads, weight, kept, weight_gradient);
  }
  Tensor rows = RowsOf(d_heads);
  RmsNormBackward(rows, {kept.x, weight, kept.inverse_rms}, Tensor(), rows, weight_gradient);
  d_heads.copy_(rows.view(d_heads.sizes()));
}

}  // namespace trainyard::trainer
