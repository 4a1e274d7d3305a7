#include "trainer/model/parameters/parameter_store.h"

#include "trainer/model/parameters/initialisation.h"
#include "trainer/ops/optimizer/master_weights.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {

using torch::Tensor;

ParameterStore::ParameterStore(const std::vector<GroupDeclaration>& groups, torch::ScalarType type,
                               torch::Device device, std::optional<uint64_t> seed,
                               const StoreParts& parts)
    : parts_(parts),
      layout_(groups, {parts.kept.dense.stored.count, parts.kept.expert.stored.count}),
      held_values_(groups.size()),
      held_gradients_(groups.size()) {
  for (int64_t group = 0; group < static_cast<int64_t>(groups.size()); ++group) {
    TORCH_CHECK(PartsOf(group).stored.count % PartsOf(group).owned.count == 0);
    owned_first_.push_back(state_elements_);
    state_elements_ += OwnedOf(group).length;
  }
  const auto options = torch::TensorOptions().dtype(type).device(device);
  values_ = torch::zeros({parts.zero < 3 ? elements() : state_elements()}, options);
  if (parts.trains) {
    gradients_ = torch::zeros({parts.zero < 2 ? elements() : state_elements()},
                              options.dtype(ComputeType(type)));
  }
  if (parts.trains && type == torch::kBFloat16) {
    low_bits_ = torch::zeros({state_elements()}, options.dtype(torch::kInt16));
  }
  if (parts.trains && type == torch::kHalf) {
    masters_ = torch::zeros({state_elements()}, options.dtype(torch::kFloat32));
  }
  if (seed.has_value()) Initialise(*seed);
}

void ParameterStore::Initialise(uint64_t seed) {
  for (const StoredSlice& slice : slices()) {
    SetMaster(slice, InitialValues(seed, slice.logical, device()).view({-1}));
  }
}

Tensor ParameterStore::Shaped(const Tensor& whole_group, int64_t parameter) const {
  const ParameterLayout::Parameter& place = layout_.parameters()[parameter];
  const int64_t first = place.range.first - groups()[place.group].all.first;
  return whole_group.narrow(0, first, place.range.length).view(place.shape);
}

Tensor ParameterStore::Value(int64_t parameter) const {
  return Shaped(WholeValues(GroupOf(parameter)), parameter);
}

Tensor ParameterStore::Gradient(int64_t parameter) {
  return Shaped(WholeGradients(GroupOf(parameter)), parameter);
}

Tensor ParameterStore::WholeValues(int64_t group) const {
  if (parts_.zero < 3) return Values(group, groups()[group].all);
  TORCH_CHECK(held_values_[group].defined(), "the whole values of ", groups()[group].name,
              " have not been gathered");
  return held_values_[group];
}

Tensor ParameterStore::WholeGradients(int64_t group) {
  if (parts_.zero < 2) return Gradients(group, groups()[group].all);
  Tensor& held = held_gradients_[group];
  if (!held.defined()) held = torch::zeros({groups()[group].all.length}, gradients_.options());
  return held;
}

void ParameterStore::HoldValues(int64_t group) {
  held_values_[group] = torch::empty({groups()[group].all.length}, values_.options());
}

void ParameterStore::DropValues(int64_t group) {
  held_values_[group] = Tensor();
  if (values_dropped_) values_dropped_(group);
}

void ParameterStore::DropGradients(int64_t group) { held_gradients_[group] = Tensor(); }

Tensor ParameterStore::Part(const Tensor& buffer, bool is_owned_part, int64_t group,
                            const ElementRange& range) const {
  if (!is_owned_part) return buffer.narrow(0, range.first, range.length);
  return buffer.narrow(0, owned_first_[group] + range.first - OwnedOf(group).first, range.length);
}

Tensor ParameterStore::Values(int64_t group, const ElementRange& range) const {
  return Part(values_, parts_.zero >= 3, group, range);
}

Tensor ParameterStore::Gradients(int64_t group, const ElementRange& range) const {
  return Part(gradients_, parts_.zero >= 2, group, range);
}

Tensor ParameterStore::State(const Tensor& buffer, int64_t group, const ElementRange& range) const {
  return Part(buffer, /*is_owned_part=*/true, group, range);
}

void ParameterStore::SetValues(int64_t group, const ElementRange& range, const Tensor& values) {
  const ElementRange kept = parts_.zero < 3 ? range : Intersect(range, OwnedOf(group));
  if (kept.length == 0) return;
  Values(group, kept).copy_(values.narrow(0, kept.first - range.first, kept.length));
}

void ParameterStore::SetMaster(const StoredSlice& slice, const Tensor& elements) {
  const ElementRange& range = slice.range;
  const ElementRange owned = Intersect(range, OwnedOf(slice.group));
  const auto set_state = [&](Tensor& buffer, const Tensor& whole) {
    if (!buffer.defined() || owned.length == 0) return;
    State(buffer, slice.group, owned)
        .copy_(whole.narrow(0, owned.first - range.first, owned.length));
  };
  if (values_.scalar_type() != torch::kBFloat16) {
    SetValues(slice.group, range, elements);
    return set_state(masters_, elements);
  }
  Tensor values = torch::empty({range.length}, values_.options());
  Tensor low_bits = torch::empty({range.length}, values_.options().dtype(torch::kInt16));
  SplitMasterWeights(elements.to(values_.device(), torch::kFloat32), values, low_bits);
  SetValues(slice.group, range, values);
  set_state(low_bits_, low_bits);
}

void ParameterStore::SetMaster(const StoredSlice& slice, const RowPlaces& places,
                               const Tensor& rows) {
  const ElementRange span = {slice.range.first + places.first,
                             (rows.size(0) - 1) * places.stride + rows.size(1)};
  const auto places_in = [&](const Tensor& flat) {
    return flat.as_strided(rows.sizes(), {places.stride, 1}, flat.storage_offset());
  };
  const Tensor kept_values = places_in(Values(slice.group, span));
  if (values_.scalar_type() != torch::kBFloat16) {
    kept_values.copy_(rows);
    if (masters_.defined()) places_in(State(masters_, slice.group, span)).copy_(rows);
    return;
  }
  Tensor values = torch::empty(rows.sizes(), values_.options());
  Tensor low_bits = torch::empty(rows.sizes(), values_.options().dtype(torch::kInt16));
  SplitMasterWeights(rows.to(torch::kFloat32).contiguous(), values, low_bits);
  kept_values.copy_(values);
  if (low_bits_.defined()) places_in(State(low_bits_, slice.group, span)).copy_(low_bits);
}

}  // namespace trainyard::trainer
