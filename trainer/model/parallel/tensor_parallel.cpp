#include "trainer/model/parallel/tensor_parallel.h"

#include <utility>
#include <vector>

#include "trainer/ops/sum_parts.h"

namespace trainyard::trainer {

using torch::Tensor;

Tensor PendingTensor::Add(const Tensor& residual) {
  const std::vector<Tensor> summands = work_.WaitForSummands();
  if (!summands.empty()) {
    SumParts(summands, residual, tensor_);
  } else if (residual.defined()) {
    tensor_.add_(residual);
  }
  return tensor_;
}

PendingTensor TensorParallel::BeginGather(const Tensor& rows, OwnPart own_part) const {
  if (!splits_rows()) return {rows, Work()};
  const Tensor all = group_->EmptyForGather({rows.size(0) * size(), rows.size(1)}, rows.options());
  return {all, group_->AllGather(all, rows, own_part)};
}

PendingTensor TensorParallel::BeginSum(Tensor part) const {
  if (group_ == nullptr) return {std::move(part), Work()};
  if (!splits_rows()) {
    Work work = group_->AllReduce(part);
    return {std::move(part), std::move(work)};
  }
  const Tensor rows = torch::empty({part.size(0) / size(), part.size(1)}, part.options());
  return {rows, group_->ReduceScatter(rows, std::move(part))};
}

PendingTensor TensorParallel::BeginSum(Tensor part, const ComputedInput& computed) const {
  if (!splits_rows()) {
    computed.compute(0, part.size(0));
    return BeginSum(std::move(part));
  }
  const Tensor rows = torch::empty({part.size(0) / size(), part.size(1)}, part.options());
  return {rows, group_->ReduceScatter(rows, std::move(part), computed)};
}

Tensor TensorParallel::Collect(const Tensor& tensor) const {
  std::vector<int64_t> shape = tensor.sizes().vec();
  shape.insert(shape.begin(), size());
  const Tensor all = torch::empty(shape, tensor.options());
  if (group_ == nullptr) return tensor.unsqueeze(0);
  group_->AllGather(all, tensor).Wait();
  return all;
}

}  // namespace trainyard::trainer
