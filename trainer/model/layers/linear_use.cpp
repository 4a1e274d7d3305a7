#include "trainer/model/layers/linear_use.h"

#include <utility>
#include <vector>

#include "trainer/model/parameters/fp8_parameters.h"
#include "trainer/ops/activation.h"
#include "trainer/ops/linear/gelu_linear.h"
#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns the groups in which other ranks have parts of a tensor. Context-parallel ranks always
// have other rows.
std::vector<Communicator*> HoldersOf(const ModelParallel& parallel, TensorParts parts) {
  std::vector<Communicator*> holders;
  if (parts == TensorParts::kDivided && parallel.tensor.group() != nullptr) {
    holders.push_back(parallel.tensor.group());
  }
  if (parallel.context.size() > 1) holders.push_back(&parallel.context.group());
  return holders;
}

Fp8Scale ScaleOf(const Tensor& part, Fp8Role role, TensorParts parts, const LinearUse& use) {
  Fp8Parameters& fp8 = *use.store.fp8();
  return fp8.scaling().ScaleOf(part, {.matrix = fp8.MatrixOf(use.parameters.weight),
                                      .role = role,
                                      .holders = HoldersOf(use.parallel, parts),
                                      .records = use.micro_batch->records_amax});
}

// Remembers the scale for the backward pass.
Fp8Scale InputScaleOf(const Tensor& part, TensorParts parts, const LinearUse& use) {
  const Fp8Scale scale = ScaleOf(part, Fp8Role::kInput, parts, use);
  if (use.micro_batch->records_amax) use.micro_batch->input_scales[use.parameters.weight] = scale;
  return scale;
}

bool KnowsScales(const LinearUse& use) {
  return UsesFp8(use) && use.store.fp8()->scaling().has_history();
}

LinearFactor Cast(LinearFactor factor, Fp8Format format, Fp8Arrangement arrangement) {
  if (factor.IsFp8()) factor.cast = ToFp8(factor.rows, format, factor.scale, arrangement);
  return factor;
}

}  // namespace

bool UsesFp8(const LinearUse& use) {
  const Fp8Parameters* fp8 = use.store.fp8();
  return use.micro_batch != nullptr && fp8 != nullptr && fp8->Has(use.parameters.weight);
}

Tensor BiasOf(const LinearUse& use) {
  return use.parameters.bias >= 0 ? use.store.Value(use.parameters.bias) : Tensor();
}

LinearFactor ChooseInput(const Tensor& x, TensorParts parts, const LinearUse& use) {
  if (!UsesFp8(use)) return {x};
  return {x, InputScaleOf(x, parts, use)};
}

LinearFactor RepeatInput(const Tensor& x, const LinearUse& use) {
  if (!UsesFp8(use)) return {x};
  return {x, RepeatInputScale(use)};
}

Fp8Scale RepeatInputScale(const LinearUse& use) {
  return {use.micro_batch->input_scales.at(use.parameters.weight).scale, Tensor()};
}

LinearFactor ChooseGradient(const Tensor& dy, TensorParts parts, const LinearUse& use) {
  if (!UsesFp8(use)) return {dy};
  return {dy, ScaleOf(dy, Fp8Role::kGradient, parts, use)};
}

// A known scale depends neither on the tensor nor on the ranks that have parts of it.
std::optional<Fp8Scale> KnownInputScale(const LinearUse& use) {
  if (!KnowsScales(use)) return std::nullopt;
  return InputScaleOf(Tensor(), TensorParts::kWhole, use);
}

std::optional<Fp8Scale> KnownGradientScale(const LinearUse& use) {
  if (!KnowsScales(use)) return std::nullopt;
  return ScaleOf(Tensor(), Fp8Role::kGradient, TensorParts::kWhole, use);
}

LinearFactor CastInput(LinearFactor x, Fp8Arrangement arrangement) {
  return Cast(std::move(x), Fp8Format::kE4M3, arrangement);
}

LinearFactor CastGradient(LinearFactor dy, Fp8Arrangement arrangement) {
  return Cast(std::move(dy), Fp8Format::kE5M2, arrangement);
}

LinearFactor RowsOfFactor(const LinearFactor& factor, int64_t first, int64_t count) {
  LinearFactor part{factor.rows.defined() ? factor.rows.narrow(0, first, count) : Tensor(),
                    factor.scale};
  if (!factor.cast.rows.defined()) return part;
  part.cast = factor.cast.WithRows(factor.cast.rows.narrow(0, first, count));
  return part;
}

void MultiplyInput(const LinearFactor& x, const LinearUse& use, Tensor& y, const Tensor& bias) {
  const int64_t weight = use.parameters.weight;
  if (!x.IsFp8()) return LinearForward(x.rows, use.store.Value(weight), y, bias);
  Fp8LinearForward(x.cast, use.store.fp8()->Weight(weight), y);
  if (bias.defined()) AddBias(bias, y);
}

void MultiplyInputWithGelu(const LinearFactor& x, const LinearUse& use, const Tensor& bias,
                           Tensor& y, Tensor& gelu) {
  if (!x.IsFp8()) {
    return LinearForwardWithGelu(x.rows, use.store.Value(use.parameters.weight), bias, y, gelu);
  }
  MultiplyInput(x, use, y, bias);
  ActivationForward(Activation::kGeluTanh, y, gelu);
}

void MultiplyGradient(const LinearFactor& dy, const LinearUse& use, Tensor& dx) {
  const int64_t weight = use.parameters.weight;
  if (!dy.IsFp8()) return LinearInputGradient(dy.rows, use.store.Value(weight), dx);
  Fp8LinearInputGradient(dy.cast, use.store.fp8()->Weight(weight), dx);
}

void MultiplyGradientWithGelu(const LinearFactor& dy, const LinearUse& use, const Tensor& y,
                              Tensor& d_y) {
  if (!dy.IsFp8()) {
    return LinearInputGradientWithGelu(dy.rows, use.store.Value(use.parameters.weight), y, d_y);
  }
  MultiplyGradient(dy, use, d_y);
  Tensor no_gelu;
  ActivationBackward(Activation::kGeluTanh, d_y, y, d_y, no_gelu);
}

void AddWeightGradient(LinearFactor dy, const LinearFactor& x, const LinearUse& use,
                       WeightGradients& gradients) {
  const int64_t weight = use.parameters.weight;
  if (!dy.IsFp8()) return gradients.AddLinear(weight, dy.rows, x.rows);
  const Fp8Matrix columns =
      x.IsCast() ? x.cast : CastInput(RepeatInput(x.rows, use), Fp8Arrangement::kColumns).cast;
  gradients.AddFp8(weight, dy.cast, columns);
}

}  // namespace trainyard::trainer
