#include "trainer/model/parameter_store.h"

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

int64_t AlignUp(int64_t elements) {
  constexpr int64_t kAlignment = ParameterStore::kAlignment;
  return (elements + kAlignment - 1) / kAlignment * kAlignment;
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

ParameterStore::ParameterStore(std::vector<GroupDeclaration> groups, torch::ScalarType type,
                               torch::Device device, std::optional<uint64_t> seed) {
  const int64_t elements = Layout(groups);
  const auto options = torch::TensorOptions().dtype(type).device(device);
  values_ = torch::zeros({elements}, options);
  gradients_ = torch::zeros({elements}, options.dtype(ComputeType(type)));
  if (type == torch::kBFloat16) low_bits_ = torch::zeros({elements}, options.dtype(torch::kInt16));
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
    slices_.push_back({slice, next, parameter});
    next += Product(slice.shape);
  }
  next = AlignUp(next);
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
  return flat.narrow(0, slice.first, Product(slice.logical.shape)).view(slice.logical.shape);
}

int64_t ParameterStore::element_count() const {
  int64_t count = 0;
  for (const StoredSlice& slice : slices_) count += Product(slice.logical.shape);
  return count;
}

torch::Tensor ParameterStore::Master(const StoredSlice& slice) const {
  const torch::Tensor values = SliceOf(values_, slice);
  return low_bits_.defined() ? JoinMasterWeights(values, SliceOf(low_bits_, slice)) : values;
}

void ParameterStore::SetMaster(const StoredSlice& slice, int64_t first,
                               const torch::Tensor& elements) {
  const auto part = [&](const torch::Tensor& flat) {
    return flat.narrow(0, slice.first + first, elements.numel());
  };
  torch::Tensor values = part(values_);
  if (!low_bits_.defined()) {
    values.copy_(elements);
    return;
  }
  torch::Tensor low_bits = part(low_bits_);
  SplitMasterWeights(elements.to(values.device(), torch::kFloat32), values, low_bits);
}

}  // namespace trainyard::trainer
