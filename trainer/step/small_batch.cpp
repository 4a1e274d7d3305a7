#include "trainer/step/small_batch.h"

#include "trainer/kernels/optimizer/step_values.h"
#include "trainer/ops/optimizer/adamw.h"
#include "trainer/step/tensor_sum.h"

namespace trainyard::trainer {

using torch::Tensor;

SmallBatch::SmallBatch(ParameterStore& store, const RankGroups& groups, int64_t shared_embedding)
    : store_(store), groups_(groups), shared_embedding_(shared_embedding) {
  int64_t ranges = 0;
  for (const ParameterGroup& group : store.groups()) {
    ranges += static_cast<int64_t>(group.counted.size());
  }
  all_squares_ = torch::zeros({ranges}, store.gradients().options().dtype(torch::kFloat64));
  int64_t next = 0;
  for (const ParameterGroup& group : store.groups()) {
    const auto count = static_cast<int64_t>(group.counted.size());
    squares_.push_back(all_squares_.narrow(0, next, count));
    next += count;
  }
}

void SmallBatch::Measure(int64_t group) {
  const bool is_shared = group == shared_embedding_;
  const bool has_parts = groups_.tensor->size() > 1 || groups_.context->size() > 1;
  Tensor gradients = store_.WholeGradients(group);
  if (has_parts || is_shared) gradients = gradients.clone();
  SumOverTensorRanks(store_, group, *groups_.tensor, gradients);
  if (groups_.context->size() > 1) groups_.context->AllReduce(gradients).Wait();
  if (is_shared) {
    shared_gradients_ = gradients;
  } else {
    SumSquares(group, gradients);
  }
}

void SmallBatch::SumSquares(int64_t group, const Tensor& gradients) {
  const ParameterGroup& whole = store_.groups()[group];
  for (size_t i = 0; i < whole.counted.size(); ++i) {
    const ElementRange& range = whole.counted[i];
    Tensor sum = squares_[group][static_cast<int64_t>(i)];
    SquaredSum(gradients.narrow(0, range.first - whole.all.first, range.length), sum);
  }
}

void SmallBatch::Finish(Tensor& step_values) {
  if (shared_embedding_ >= 0) {
    groups_.tied_embedding->AllReduce(shared_gradients_).Wait();
    SumSquares(shared_embedding_, shared_gradients_);
    shared_gradients_ = Tensor();
  }
  // Context-parallel ranks have equal sums, so only one of them counts its sum.
  if (groups_.context->rank() > 0) return;
  step_values[static_cast<int64_t>(StepValue::kSmallBatchSquares)].copy_(all_squares_.sum());
}

}  // namespace trainyard::trainer
