#include "trainer/model/layers/mlp.h"

#include <optional>
#include <utility>

#include "proto/layout/layout_parts.h"
#include "proto/model/model_size.h"
#include "trainer/model/parameters/initial_spread.h"
#include "trainer/model/parameters/replicated_tensor.h"
#include "trainer/ops/activation.h"
#include "trainer/ops/fp8/fp8_activation.h"

namespace trainyard::trainer {

using torch::Tensor;

std::vector<ParameterDeclaration> Mlp::Declare(const ModelConfig& model, const std::string& prefix,
                                               int64_t ffn, const TensorParallel& tensor) {
  const int64_t hidden = model.hidden_size;
  const IndexRange here = PartOf(ffn, tensor.size(), tensor.index());
  ParameterDeclaration up{{}, /*decays=*/true}, up_bias{{}, /*decays=*/false};
  const auto add = [&](const std::string& name) {
    up.slices.push_back(RowsOfLogicalTensor(name + ".weight", {ffn, hidden}, here.first,
                                            here.length, model.init_method_std));
    up_bias.slices.push_back(
        RowsOf(LogicalVector(name + ".bias", ffn, 0), here.first, here.length));
  };
  if (HasGate(model)) add(prefix + "gate_proj");
  add(prefix + "up_proj");
  ParameterDeclaration down{
      {ColumnsOfLogicalTensor(prefix + "down_proj.weight", {hidden, ffn}, here.first, here.length,
                              ResidualInitStd(model))},
      /*decays=*/true};
  if (!model.add_bias_linear) return {std::move(up), std::move(down)};
  return {std::move(up), std::move(up_bias), std::move(down),
          DeclareReplicatedVector(prefix + "down_proj.bias", hidden, 0, tensor)};
}

std::optional<Fp8Scale> Mlp::ScaleOfFusedActivation(const LinearUse& down) const {
  if (activation_ != Activation::kSwiglu) return std::nullopt;
  return KnownInputScale(down);
}

std::optional<Fp8Scale> Mlp::ScaleOfFusedGradient(const LinearUse& up) const {
  // The gradient of a bias needs the rows in the wider type.
  if (activation_ != Activation::kSwiglu || parameters_.up.bias >= 0) return std::nullopt;
  return KnownGradientScale(up);
}

LinearFactor Mlp::Activated(const Tensor& packed, const LinearUse& down) const {
  if (const std::optional<Fp8Scale> scale = ScaleOfFusedActivation(down)) {
    const bool keeps = keeps_activation_ && down.micro_batch->stash.keeps();
    const auto arrangement = keeps ? Fp8Arrangement::kBoth : Fp8Arrangement::kRows;
    return {Tensor(), *scale, SwiGluForwardToFp8(packed, *scale, arrangement)};
  }
  Tensor out = torch::empty({packed.size(0), InnerWidth()}, packed.options());
  ActivationForward(activation_, packed, out);
  return {std::move(out)};
}

// A stash holds tensors: of an activation in FP8, the columns and the inverse scale.
void Mlp::Keep(LinearFactor activation, Stash& stash) const {
  if (!activation.IsCast()) return stash.Push(std::move(activation.rows));
  stash.Push(std::move(activation.cast.inverse_scale));
  stash.Push(std::move(activation.cast.columns));
}

LinearFactor Mlp::Kept(Stash& stash) const {
  Tensor tensor = stash.Pop();
  if (tensor.scalar_type() != torch::kUInt8) return {std::move(tensor)};
  return {Tensor(), {}, {Fp8Format::kE4M3, Tensor(), std::move(tensor), stash.Pop()}};
}

LinearFactor Mlp::Recomputed(const Tensor& packed, const LinearUse& down) const {
  if (!ScaleOfFusedActivation(down).has_value()) return Activated(packed, down);
  const Fp8Scale scale = RepeatInputScale(down);
  return {Tensor(), scale, SwiGluForwardToFp8(packed, scale, Fp8Arrangement::kColumns)};
}

Tensor Mlp::Forward(const Tensor& x, const Tensor& residual, MicroBatch& micro_batch) const {
  const int64_t rows = parallel_.tensor.AllRows(x.size(0));
  const LinearUse up{parameters_.up, store_, parallel_, &micro_batch};
  const LinearUse down{parameters_.down, store_, parallel_, &micro_batch};
  const int64_t packed_width = store_.Value(parameters_.up.weight).size(0);
  Tensor packed = torch::empty({rows, packed_width}, x.options());
  LinearFactor activation;
  if (activation_ == Activation::kGeluTanh) activation.rows = torch::empty_like(packed);
  ColumnParallelForward(x, up, packed, activation.rows);
  if (!activation.rows.defined()) activation = Activated(packed, down);
  Tensor y = RowParallelForward(activation, residual, down);
  if (keeps_activation_) Keep(std::move(activation), micro_batch.stash);
  micro_batch.stash.Push(std::move(packed));
  return y;
}

Tensor Mlp::Backward(const Tensor& dy, const Tensor& x, MicroBatch& micro_batch,
                     WeightGradients& gradients) const {
  Tensor packed = micro_batch.stash.Pop();
  LinearFactor activation = keeps_activation_ ? Kept(micro_batch.stash) : LinearFactor{};
  const LinearUse up{parameters_.up, store_, parallel_, &micro_batch};
  const LinearUse down{parameters_.down, store_, parallel_, &micro_batch};
  Tensor d_activation = torch::empty({packed.size(0), InnerWidth()}, packed.options());
  const bool has_gelu = activation_ == Activation::kGeluTanh;
  LinearFactor dy_rows =
      RowParallelInputGradient(dy, down, d_activation, has_gelu ? packed : Tensor());
  PendingTensor x_rows = parallel_.tensor.BeginGather(x);
  gradients.AddBias(parameters_.down.bias, dy);
  LinearFactor d_packed;
  if (has_gelu) {
    if (!keeps_activation_) activation = Activated(packed, down);
    d_packed.rows = d_activation;
  } else if (const std::optional<Fp8Scale> scale = ScaleOfFusedGradient(up)) {
    if (!keeps_activation_) activation = Recomputed(packed, down);
    d_packed = {Tensor(), *scale, SwiGluBackwardToFp8(d_activation, packed, *scale)};
  } else {
    if (!keeps_activation_) activation.rows = torch::empty_like(d_activation);
    Tensor again = keeps_activation_ ? Tensor() : activation.rows;
    // The gradient overwrites `packed`, which is not needed afterwards.
    ActivationBackward(activation_, d_activation, packed, packed, again);
    d_packed.rows = packed;
  }
  packed = d_activation = Tensor();
  AddWeightGradient(std::move(dy_rows), activation, down, gradients);
  return ColumnParallelBackward({std::move(d_packed), x_rows.Get()}, up, gradients);
}

}  // namespace trainyard::trainer
