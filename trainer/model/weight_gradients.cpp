#include "trainer/model/weight_gradients.h"

#include "trainer/ops/linear.h"

namespace trainyard::trainer {

using torch::Tensor;

WeightGradients::WeightGradients(ParameterStore& store, Timing timing)
    : store_(store), timing_(timing), is_written_(store.size(), false) {}

void WeightGradients::BeginStep() { is_written_.assign(is_written_.size(), false); }

GradientTarget WeightGradients::Target(int64_t parameter) {
  const bool accumulate = is_written_[parameter];
  is_written_[parameter] = true;
  return {store_.Gradient(parameter), accumulate};
}

void WeightGradients::AddLinear(int64_t parameter, const Tensor& dy, const Tensor& x) {
  if (timing_ == Timing::kDeferred) {
    deferred_.push_back({parameter, dy, x});
  } else {
    LinearWeightGradient(dy, x, Target(parameter));
  }
}

void WeightGradients::FinishGroup(int64_t group) {
  if (timing_ == Timing::kDeferred) {
    deferred_.push_back({group, Tensor(), Tensor()});
  } else if (group_finished_) {
    group_finished_(group);
  }
}

void WeightGradients::RunDeferred() {
  while (!deferred_.empty()) {
    const Deferred next = std::move(deferred_.front());
    deferred_.pop_front();
    if (next.dy.defined()) {
      LinearWeightGradient(next.dy, next.x, Target(next.parameter));
    } else if (group_finished_) {
      group_finished_(next.parameter);
    }
  }
}

}  // namespace trainyard::trainer
