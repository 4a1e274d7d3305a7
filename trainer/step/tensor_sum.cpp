#include "trainer/step/tensor_sum.h"

#include <map>
#include <string>
#include <vector>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns a view of the elements of `range` in `gradients`. `range` counts from the beginning of
// the flat buffers; `gradients` begins with the group's first element.
Tensor InGroup(const ParameterStore& store, int64_t group, const ElementRange& range,
               const Tensor& gradients) {
  return gradients.narrow(0, range.first - store.groups()[group].all.first, range.length);
}

// If the number of ranks does not divide the number of key heads, ranks have different, overlapping
// parts of these tensors. Therefore sums whole tensors. Each rank fills the elements that it lacks
// with zeros.
void SumLogicalTensors(const ParameterStore& store, const std::vector<const StoredSlice*>& slices,
                       Communicator& tensor, const Tensor& gradients) {
  std::map<std::string, Tensor> wholes;
  const auto rows_of = [&](const StoredSlice& slice) {
    Tensor& whole = wholes[slice.logical.name];
    if (!whole.defined()) {
      whole = torch::zeros(slice.logical.global_shape, gradients.options());
    }
    return whole.narrow(0, slice.logical.offset[0], slice.logical.shape[0]);
  };
  const auto gradient_of = [&](const StoredSlice& slice) {
    return InGroup(store, slice.group, slice.range, gradients).view(slice.logical.shape);
  };
  for (const StoredSlice* slice : slices) rows_of(*slice).copy_(gradient_of(*slice));
  for (const auto& [_, whole] : wholes) tensor.AllReduce(whole).Wait();
  for (const StoredSlice* slice : slices) gradient_of(*slice).copy_(rows_of(*slice));
}

}  // namespace

// Adjacent slices that are whole tensors on every rank are summed in one operation.
void SumOverTensorRanks(const ParameterStore& store, int64_t group, Communicator& tensor,
                        const Tensor& gradients) {
  if (tensor.size() == 1) return;
  const auto is_whole = [](const LogicalTensorSlice& slice) {
    return slice.has_partial_gradient && slice.IsWhole();
  };
  std::vector<const StoredSlice*> parts;
  for (const StoredSlice& slice : store.slices()) {
    const bool is_part = slice.logical.has_partial_gradient && !is_whole(slice.logical);
    if (slice.group == group && is_part) parts.push_back(&slice);
  }
  for (const ElementRange& range : RangesOf(store.slices(), group, is_whole)) {
    tensor.AllReduce(InGroup(store, group, range, gradients)).Wait();
  }
  if (!parts.empty()) SumLogicalTensors(store, parts, tensor, gradients);
}

}  // namespace trainyard::trainer
