#include "trainer/model/parameters/fp8_parameters.h"

#include "trainer/model/parameters/parameter_store.h"

namespace trainyard::trainer {

using torch::Tensor;

Fp8Parameters::Fp8Parameters(const Fp8Options& options, const ModelConfig& model,
                             const ParameterStore& store)
    : store_(store), world_(options.world), scaling_(options, model, store.device()) {
  const auto fp32 = torch::dtype(torch::kFloat32).device(store.device());
  const int64_t matrices = LayersWithMtp(model) * kBlockMatrices;
  amax_ = torch::zeros({matrices}, fp32);
  scale_ = torch::ones({matrices}, fp32);
}

void Fp8Parameters::Add(int64_t parameter, int64_t matrix) { matrices_[parameter] = {matrix, {}}; }

void Fp8Parameters::ScaleWeights() {
  if (has_scales_) return;
  amax_.zero_();
  for (const auto& [parameter, matrix] : matrices_) {
    const int64_t group = store_.GroupOf(parameter);
    const ElementRange owned = Intersect(store_.RangeOf(parameter), store_.OwnedOf(group));
    if (owned.length > 0) {
      RaiseAmax(store_.Values(group, owned), amax_.narrow(0, matrix.number, 1));
    }
  }
  if (world_ != nullptr) MaxOverMembers(*world_, amax_);
  UpdateFp8Scale(amax_, Fp8Format::kE4M3, scale_);
  has_scales_ = true;
}

void Fp8Parameters::OnWeightsChanged() {
  has_scales_ = false;
  for (auto& [parameter, matrix] : matrices_) matrix.copy = {};
}

void Fp8Parameters::Drop(int64_t group) {
  for (auto& [parameter, matrix] : matrices_) {
    if (store_.GroupOf(parameter) == group) matrix.copy = {};
  }
}

const Fp8Matrix& Fp8Parameters::Weight(int64_t parameter) {
  Matrix& matrix = matrices_.at(parameter);
  if (matrix.copy.rows.defined()) return matrix.copy;
  TORCH_CHECK(has_scales_, "an FP8 weight was used before its scale was computed");
  matrix.copy = ToFp8(store_.Value(parameter), Fp8Format::kE4M3,
                      {scale_.narrow(0, matrix.number, 1), Tensor()}, Fp8Arrangement::kBoth);
  return matrix.copy;
}

int64_t Fp8Parameters::bytes() const {
  int64_t sum = 0;
  for (const auto& [parameter, matrix] : matrices_) {
    if (matrix.copy.rows.defined()) {
      sum += static_cast<int64_t>(matrix.copy.rows.nbytes() + matrix.copy.columns.nbytes());
    }
  }
  return sum;
}

}  // namespace trainyard::trainer
