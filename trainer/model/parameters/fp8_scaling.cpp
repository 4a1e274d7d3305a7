#include "trainer/model/parameters/fp8_scaling.h"

#include <array>

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr std::array<Fp8Format, kFp8Roles> kFormatOfRole = {Fp8Format::kE4M3, Fp8Format::kE5M2};

// The names of the matrices within a layer, by BlockMatrix. A shared expert has the names of a
// feed-forward layer, because no layer has both.
constexpr std::array<const char*, kBlockMatrices> kMatrixNames = {
    "self_attn.qkv_proj", "self_attn.o_proj", "mlp.up_proj", "mlp.down_proj"};

}  // namespace

const Fp8Matrices& Fp8MatricesIn(int64_t layer, const ModelConfig& model,
                                 const Fp8Options& options) {
  return HasExpertsIn(layer, model) ? options.expert : options.dense;
}

void MaxOverMembers(Communicator& group, const Tensor& amax) {
  group.AllReduce(amax.view(torch::kInt32), ReduceOp::kMax).Wait();
}

Fp8Scaling::Fp8Scaling(const Fp8Options& options, const ModelConfig& model, torch::Device device)
    : algorithm_(options.algorithm), world_(options.world) {
  if (options.recipe != Fp8Recipe::kDelayed) return;
  const int64_t layers = LayersWithMtp(model), matrices = layers * kBlockMatrices;
  const auto fp32 = torch::dtype(torch::kFloat32).device(device);
  history_ = torch::zeros({matrices, kFp8Roles, options.history_length}, fp32);
  amax_ = torch::zeros({kFp8Roles, matrices}, fp32);
  scale_ = torch::ones({kFp8Roles, matrices}, fp32);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const Fp8Matrices& uses = Fp8MatricesIn(layer, model, options);
    for (int64_t matrix = 0; matrix < kBlockMatrices; ++matrix) {
      if (!uses[matrix]) continue;
      const int64_t number = Fp8MatrixNumber(layer, static_cast<BlockMatrix>(matrix));
      histories_.push_back(
          {"model.layers." + std::to_string(layer) + "." + kMatrixNames[matrix], history_[number]});
    }
  }
}

void Fp8Scaling::BeginStep() {
  if (IsDelayed()) amax_.zero_();
}

void Fp8Scaling::ShareAmax() {
  if (IsDelayed() && world_ != nullptr) MaxOverMembers(*world_, amax_);
}

void Fp8Scaling::EndStep(const Tensor& is_finite) {
  if (!IsDelayed()) return;
  const Tensor newest = amax_.t().unsqueeze(2);
  const Tensor enters = newest.isfinite().logical_and(newest > 0).logical_and(is_finite != 0);
  const Tensor older = history_.narrow(2, 0, history_.size(2) - 1);
  history_.copy_(at::where(enters, at::cat({newest, older}, 2), history_));
  UpdateScales();
  has_history_ = true;
}

void Fp8Scaling::UpdateScales() {
  const Tensor of_matrix =
      algorithm_ == Fp8AmaxAlgorithm::kMax ? history_.amax(2) : history_.select(2, 0);
  const Tensor largest = of_matrix.t().contiguous();
  for (int64_t role = 0; role < kFp8Roles; ++role) {
    UpdateFp8Scale(largest[role], kFormatOfRole[role], scale_[role]);
  }
}

void Fp8Scaling::Resume() {
  if (!IsDelayed()) return;
  has_history_ = history_.any().item<bool>();
  if (has_history_) UpdateScales();
}

Fp8Scale Fp8Scaling::ScaleOf(const Tensor& part, const TensorUse& use) const {
  const auto role = static_cast<int64_t>(use.role);
  const auto place = [&](const Tensor& all) { return all[role].narrow(0, use.matrix, 1); };
  const Tensor recorded = IsDelayed() && use.records ? place(amax_) : Tensor();
  if (has_history_) return {place(scale_), recorded};
  const auto fp32 = torch::dtype(torch::kFloat32).device(part.device());
  const Tensor amax = torch::zeros({1}, fp32), scale = torch::ones({1}, fp32);
  RaiseAmax(part, amax);
  for (Communicator* group : use.holders) MaxOverMembers(*group, amax);
  UpdateFp8Scale(amax, kFormatOfRole[role], scale);
  return {scale, recorded};
}

}  // namespace trainyard::trainer
