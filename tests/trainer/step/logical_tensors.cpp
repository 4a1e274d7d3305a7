#include "tests/trainer/step/logical_tensors.h"

#include <cmath>
#include <limits>

#include "trainer/checkpoint/box.h"

namespace trainyard::trainer {

using torch::Tensor;

void LogicalTensors::Add(const ParameterStore& store,
                         const std::function<ElementRange(int64_t)>& range_of, const Read& read) {
  for (const StoredSlice& slice : store.slices()) {
    const ElementRange range = Intersect(slice.range, range_of(slice.group));
    if (range.length > 0) AddPart(slice, range, read(slice.group, range).cpu());
  }
}

void LogicalTensors::AddPart(const StoredSlice& slice, const ElementRange& range,
                             const Tensor& elements) {
  Tensor& whole = tensors_[slice.logical.name];
  if (!whole.defined()) {
    whole = torch::full(slice.logical.global_shape, std::numeric_limits<double>::quiet_NaN(),
                        elements.options());
  }
  Tensor part = whole;
  for (size_t d = 0; d < slice.logical.shape.size(); ++d) {
    part = part.narrow(static_cast<int64_t>(d), slice.logical.offset[d], slice.logical.shape[d]);
  }
  const int64_t first = range.first - slice.range.first;
  Tensor flat = part.flatten();  // Copies unless contiguous.
  const Tensor known = flat.narrow(0, first, range.length);
  const Tensor differs = known.eq(known).logical_and(known.ne(elements));
  if (differs.any().item<bool>()) differing_.push_back(slice.logical.name);
  known.copy_(elements);
  part.copy_(flat.view(part.sizes()));
}

std::vector<std::string> LogicalTensors::Faults() const {
  std::vector<std::string> faults = differing_;
  for (const auto& [name, tensor] : tensors_) {
    if (tensor.isnan().any().item<bool>()) faults.push_back(name + " (incomplete)");
  }
  return faults;
}

LargestDistance DistanceOf(const LogicalTensors& tensors, const LogicalTensors& reference,
                           const std::string& left_out) {
  LargestDistance largest;
  for (const auto& [name, expected] : reference.tensors()) {
    if (!left_out.empty() && name.ends_with(left_out)) continue;
    const auto found = tensors.tensors().find(name);
    if (found == tensors.tensors().end()) return {std::numeric_limits<double>::infinity(), name};
    const Tensor difference = found->second.to(torch::kFloat64) - expected.to(torch::kFloat64);
    const double distance =
        difference.norm().item<double>() / expected.to(torch::kFloat64).norm().item<double>();
    if (!(distance <= largest.value)) largest = {distance, name};
  }
  return largest;
}

}  // namespace trainyard::trainer
