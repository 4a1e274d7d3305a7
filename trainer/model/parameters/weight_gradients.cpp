#include "trainer/model/parameters/weight_gradients.h"

#include <utility>

#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {

using torch::Tensor;

WeightGradients::WeightGradients(ParameterStore& store, Timing timing)
    : store_(store), timing_(timing), is_written_(store.size(), false) {}

void WeightGradients::BeginStep() { is_written_.assign(is_written_.size(), false); }

void WeightGradients::BeginGroup(int64_t group) {
  for (int64_t parameter = 0; parameter < store_.size(); ++parameter) {
    if (store_.GroupOf(parameter) == group) is_written_[parameter] = false;
  }
}

GradientTarget WeightGradients::Target(int64_t parameter) {
  const bool accumulate = is_written_[parameter];
  is_written_[parameter] = true;
  return {store_.Gradient(parameter), accumulate};
}

void WeightGradients::AddLinear(int64_t parameter, const Tensor& dy, const Tensor& x) {
  AddGrouped(parameter, dy, x, {});
}

void WeightGradients::AddGrouped(int64_t parameter, const Tensor& dy, const Tensor& x,
                                 const RowSegments& segments) {
  Add({parameter, dy, x, segments});
}

// Releases the rows, which the product does not need.
void WeightGradients::AddFp8(int64_t parameter, const Fp8Matrix& dy, const Fp8Matrix& x) {
  const auto columns_of = [](const Fp8Matrix& factor) {
    return Fp8Matrix{factor.format, Tensor(), factor.columns, factor.inverse_scale};
  };
  Add({parameter, Tensor(), Tensor(), {}, columns_of(dy), columns_of(x)});
}

void WeightGradients::Add(Deferred product) {
  if (timing_ == Timing::kDeferred) {
    current_.push_back(std::move(product));
  } else {
    Multiply(product);
  }
}

void WeightGradients::AddBias(int64_t parameter, const Tensor& dy) {
  if (parameter >= 0) BiasGradient(dy, Target(parameter));
}

void WeightGradients::FinishGroup(int64_t group) {
  if (timing_ == Timing::kDeferred) {
    current_.push_back({group, Tensor(), Tensor(), {}});
  } else if (group_finished_) {
    group_finished_(group);
  }
}

void WeightGradients::EndPass() {
  if (timing_ == Timing::kDeferred) ended_.push_back(std::exchange(current_, {}));
}

void WeightGradients::RunOldest() {
  BackwardPass oldest = std::move(ended_.front());
  ended_.pop_front();
  Run(std::move(oldest));
}

void WeightGradients::RunDeferred() {
  while (!ended_.empty()) RunOldest();
  Run(std::exchange(current_, {}));
}

void WeightGradients::Multiply(const Deferred& product) {
  const GradientTarget target = Target(product.parameter);
  if (product.fp8_dy.columns.defined()) {
    return Fp8LinearWeightGradient(product.fp8_dy, product.fp8_x, target);
  }
  if (product.segments.empty()) return LinearWeightGradient(product.dy, product.x, target);
  const auto experts = static_cast<int64_t>(product.segments.size());
  const Tensor stacked = target.gradient.view({experts, -1, target.gradient.size(1)});
  GroupedLinearWeightGradient(product.dy, product.x, product.segments,
                              {stacked, target.accumulate});
}

// Frees the factors of each product as soon as the product is queued.
void WeightGradients::Run(BackwardPass pass) {
  while (!pass.empty()) {
    const Deferred next = std::move(pass.front());
    pass.pop_front();
    if (next.IsProduct()) {
      Multiply(next);
    } else if (group_finished_) {
      group_finished_(next.parameter);
    }
  }
}

}  // namespace trainyard::trainer
