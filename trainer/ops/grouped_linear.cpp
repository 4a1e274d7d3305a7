#include "trainer/ops/grouped_linear.h"

#include <functional>

#include "trainer/ops/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Calls visit(expert, first row, number of rows) for every expert.
void ForEachSegment(
    const RowSegments& segments, int64_t rows,
    const std::function<void(int64_t expert, int64_t first, int64_t count)>& visit) {
  int64_t first = 0;
  for (size_t expert = 0; expert < segments.size(); ++expert) {
    visit(static_cast<int64_t>(expert), first, segments[expert]);
    first += segments[expert];
  }
  TORCH_CHECK(first == rows, "the experts have ", first, " of ", rows, " rows");
}

}  // namespace

void GroupedLinearForward(const Tensor& x, const Tensor& weight, const RowSegments& segments,
                          Tensor& y) {
  ForEachSegment(segments, x.size(0), [&](int64_t expert, int64_t first, int64_t count) {
    if (count == 0) return;
    Tensor out = y.narrow(0, first, count);
    LinearForward(x.narrow(0, first, count), weight[expert], out);
  });
}

void GroupedLinearInputGradient(const Tensor& dy, const Tensor& weight, const RowSegments& segments,
                                Tensor& dx) {
  ForEachSegment(segments, dy.size(0), [&](int64_t expert, int64_t first, int64_t count) {
    if (count == 0) return;
    Tensor out = dx.narrow(0, first, count);
    LinearInputGradient(dy.narrow(0, first, count), weight[expert], out);
  });
}

void GroupedLinearWeightGradient(const Tensor& dy, const Tensor& x, const RowSegments& segments,
                                 const GradientTarget& target) {
  ForEachSegment(segments, dy.size(0), [&](int64_t expert, int64_t first, int64_t count) {
    Tensor gradient = target.gradient[expert];
    if (count > 0) {
      LinearWeightGradient(dy.narrow(0, first, count), x.narrow(0, first, count),
                           {gradient, target.accumulate});
    } else if (!target.accumulate) {
      gradient.zero_();
    }
  });
}

}  // namespace trainyard::trainer
