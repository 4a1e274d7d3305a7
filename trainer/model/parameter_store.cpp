#include "trainer/model/parameter_store.h"

#include <numeric>

#include "trainer/model/initialisation.h"

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

ParameterStore::ParameterStore(std::vector<ParameterDeclaration> declarations,
                               torch::ScalarType type, torch::Device device,
                               std::optional<uint64_t> seed)
    : type_(type), device_(device) {
  const int64_t elements = Layout(declarations);
  const auto options = torch::TensorOptions().dtype(torch::kFloat32).device(device);
  master_ = torch::zeros({elements}, options);
  gradients_ = torch::zeros({elements}, options);
  if (seed.has_value()) Initialise(*seed);
  values_ = type == torch::kFloat32 ? master_ : master_.to(type);
  MakeParameters(declarations);
}

// Places every slice and returns the length of the flat buffers.
int64_t ParameterStore::Layout(const std::vector<ParameterDeclaration>& declarations) {
  first_of_parameter_.resize(declarations.size());
  int64_t next = 0;
  for (const bool decays : {true, false}) {
    for (size_t i = 0; i < declarations.size(); ++i) {
      if (declarations[i].decays != decays) continue;
      first_of_parameter_[i] = next;
      for (const LogicalTensorSlice& slice : declarations[i].slices) {
        slices_.push_back({slice, next, static_cast<int64_t>(i)});
        next += Product(slice.shape);
      }
      next = AlignUp(next);
    }
    if (decays) decaying_elements_ = next;
  }
  return next;
}

void ParameterStore::Initialise(uint64_t seed) {
  for (const StoredSlice& slice : slices_) {
    SliceOf(master_, slice).copy_(InitialValues(seed, slice.logical));
  }
}

void ParameterStore::MakeParameters(const std::vector<ParameterDeclaration>& declarations) {
  for (size_t i = 0; i < declarations.size(); ++i) {
    const std::vector<int64_t> shape = StackedShape(declarations[i]);
    Parameter parameter;
    parameter.value =
        values_.narrow(0, first_of_parameter_[i], Product(shape)).view(shape).detach();
    parameter.value.set_requires_grad(true);
    parameter.gradient = gradients_.narrow(0, first_of_parameter_[i], Product(shape)).view(shape);
    // Autograd adds in place into a gradient that is there already.
    if (type_ == torch::kFloat32) parameter.value.mutable_grad() = parameter.gradient;
    parameters_.push_back(std::move(parameter));
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

void ParameterStore::ZeroGradients() { gradients_.zero_(); }

void ParameterStore::CollectGradients() {
  if (type_ == torch::kFloat32) return;
  for (Parameter& parameter : parameters_) {
    if (!parameter.value.grad().defined()) continue;
    parameter.gradient.add_(parameter.value.grad());
    parameter.value.mutable_grad().reset();
  }
}

void ParameterStore::RefreshValues() {
  if (!values_.is_same(master_)) values_.copy_(master_);
}

}  // namespace trainyard::trainer
