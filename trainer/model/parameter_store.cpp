#include "trainer/model/parameter_store.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "trainer/model/initialisation.h"
#include "trainer/ops/compute_type.h"
#include "trainer/ops/master_weights.h"

namespace trainyard::trainer {
namespace {

int64_t Product(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

int64_t AlignUp(int64_t elements, int64_t alignment) {
  return (elements + alignment - 1) / alignment * alignment;
}

// The slices stacked along the first dimension.
std::vector<int64_t> StackedShape(const ParameterDeclaration& declaration) {
  std::vector<int64_t> shape = declaration.slices.front().shape;
  shape[0] = 0;
  for (const LogicalTensorSlice& slice : declaration.slices) shape[0] += slice.shape[0];
  return shape;
}

}  // namespace

LogicalTensorSlice WholeLogicalTensor(std::string name, std::vector<int64_t> shape,
                                      double init_std) {
  std::vector<int64_t> offset(shape.size(), 0);
  return {std::move(name), shape, std::move(offset), shape, init_std};
}

ElementRange Intersect(const ElementRange& a, const ElementRange& b) {
  const int64_t first = std::max(a.first, b.first);
  return {first, std::max<int64_t>(std::min(a.end(), b.end()) - first, 0)};
}

ParameterStore::ParameterStore(std::vector<GroupDeclaration> groups, torch::ScalarType type,
                               torch::Device device, std::optional<uint64_t> seed, StateShard shard)
    : shard_(shard) {
  const int64_t elements = Layout(groups);
  const auto options = torch::TensorOptions().dtype(type).device(device);
  values_ = torch::zeros({elements}, options);
  gradients_ = torch::zeros({elements}, options.dtype(ComputeType(type)));
  if (type == torch::kBFloat16) {
    low_bits_ = torch::zeros({elements / shard.count}, options.dtype(torch::kInt16));
  }
  MakeParameters(groups);
  if (!seed.has_value()) return;
  for (const StoredSlice& slice : slices_) {
    SetMaster(slice, 0, InitialValues(*seed, slice.logical).view({-1}));
  }
}

// Places every slice and returns the length of the flat buffers.
int64_t ParameterStore::Layout(const std::vector<GroupDeclaration>& groups) {
  int64_t next = 0, before = 0;  // Element, and number of the group's first parameter.
  for (const GroupDeclaration& declared : groups) {
    const auto count = static_cast<int64_t>(declared.parameters.size());
    first_of_parameter_.resize(before + count);
    ParameterGroup group{.name = declared.name, .all = {next, 0}};
    for (const bool decays : {true, false}) {
      ElementRange& range = decays ? group.decaying : group.constant;
      range.first = next;
      for (int64_t i = 0; i < count; ++i) {
        if (declared.parameters[i].decays == decays) {
          Place(declared.parameters[i], before + i, next);
        }
      }
      range.length = next - range.first;
    }
    // Parts of all groups are equal, so the group as well begins at a multiple of this.
    next = AlignUp(next, kAlignment * shard_.count);
    group.all.length = next - group.all.first;
    groups_.push_back(std::move(group));
    before += count;
  }
  return next;
}

void ParameterStore::Place(const ParameterDeclaration& declaration, int64_t parameter,
                           int64_t& next) {
  first_of_parameter_[parameter] = next;
  for (const LogicalTensorSlice& slice : declaration.slices) {
    const ElementRange range = {next, Product(slice.shape)};
    slices_.push_back({slice, range, static_cast<int64_t>(groups_.size())});
    next = range.end();
  }
  next = AlignUp(next, kAlignment);
}

void ParameterStore::MakeParameters(const std::vector<GroupDeclaration>& groups) {
  for (const GroupDeclaration& group : groups) {
    for (const ParameterDeclaration& declaration : group.parameters) {
      const std::vector<int64_t> shape = StackedShape(declaration);
      const int64_t first = first_of_parameter_[parameters_.size()];
      parameters_.push_back({values_.narrow(0, first, Product(shape)).view(shape),
                             gradients_.narrow(0, first, Product(shape)).view(shape)});
    }
  }
}

torch::Tensor ParameterStore::SliceOf(const torch::Tensor& flat, const StoredSlice& slice) const {
  return flat.narrow(0, slice.range.first, slice.range.length).view(slice.logical.shape);
}

ElementRange ParameterStore::OwnedOf(int64_t group) const {
  const ElementRange& all = groups_[group].all;
  const int64_t length = all.length / shard_.count;
  return {all.first + shard_.index * length, length};
}

torch::Tensor ParameterStore::StatePart(const torch::Tensor& state, int64_t group,
                                        const ElementRange& range) const {
  const int64_t before = groups_[group].all.first / shard_.count;  // Of all earlier groups.
  return state.narrow(0, before + range.first - OwnedOf(group).first, range.length);
}

int64_t ParameterStore::element_count() const {
  int64_t count = 0;
  for (const StoredSlice& slice : slices_) count += slice.range.length;
  return count;
}

torch::Tensor ParameterStore::Master(const StoredSlice& slice) const {
  TORCH_CHECK(shard_.count == 1);
  const torch::Tensor values = SliceOf(values_, slice);
  return low_bits_.defined() ? JoinMasterWeights(values, SliceOf(low_bits_, slice)) : values;
}

void ParameterStore::SetMaster(const StoredSlice& slice, int64_t first,
                               const torch::Tensor& elements) {
  const ElementRange range = {slice.range.first + first, elements.numel()};
  torch::Tensor values = values_.narrow(0, range.first, range.length);
  if (!low_bits_.defined()) {
    values.copy_(elements);
    return;
  }
  torch::Tensor low_bits = torch::empty({range.length}, low_bits_.options());
  SplitMasterWeights(elements.to(values.device(), torch::kFloat32), values, low_bits);
  const ElementRange owned = Intersect(range, OwnedOf(slice.group));
  if (owned.length == 0) return;
  StatePart(low_bits_, slice.group, owned)
      .copy_(low_bits.narrow(0, owned.first - range.first, owned.length));
}

}  // namespace trainyard::trainer
