#include "trainer/ops/experts/grouped_linear.h"

#include "trainer/ops/gpu.h"
#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {

using torch::Tensor;

Tensor GroupedLinearForward(const Tensor& x, const Tensor& weight, const RowSegments& segments) {
  if (gpu::HasKernels(x)) return gpu::GroupedLinearForward(x, weight, segments);
  const Tensor y = torch::empty({x.size(0), weight.size(1)}, x.options());
  ForEachSegment(segments, x.size(0), [&](int64_t expert, int64_t first, int64_t count) {
    if (count == 0) return;
    Tensor out = y.narrow(0, first, count);
    LinearForward(x.narrow(0, first, count), weight[expert], out);
  });
  return y;
}

Tensor GroupedLinearInputGradient(const Tensor& dy, const Tensor& weight,
                                  const RowSegments& segments) {
  if (gpu::HasKernels(dy)) return gpu::GroupedLinearInputGradient(dy, weight, segments);
  const Tensor dx = torch::empty({dy.size(0), weight.size(2)}, dy.options());
  ForEachSegment(segments, dy.size(0), [&](int64_t expert, int64_t first, int64_t count) {
    if (count == 0) return;
    Tensor out = dx.narrow(0, first, count);
    LinearInputGradient(dy.narrow(0, first, count), weight[expert], out);
  });
  return dx;
}

void GroupedLinearWeightGradient(const Tensor& dy, const Tensor& x, const RowSegments& segments,
                                 const GradientTarget& target) {
  ForEachSegment(segments, dy.size(0), [&](int64_t expert, int64_t first, int64_t count) {
    Tensor gradient = target.gradient[expert];
    if (count > 0) {
      const Tensor dy_rows = dy.narrow(0, first, count), x_rows = x.narrow(0, first, count);
      if (gpu::HasKernels(dy)) {
        gpu::SegmentWeightGradient(dy_rows, x_rows, {gradient, target.accumulate});
      } else {
        LinearWeightGradient(dy_rows, x_rows, {gradient, target.accumulate});
      }
    } else if (!target.accumulate) {
      gradient.zero_();
    }
  });
}

}  // namespace trainyard::trainer
