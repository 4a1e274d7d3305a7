// Passes tensors to the kernels of norms, ungated activations, biases and sums over ranks. Work is
// queued on the current CUDA stream.
#include "trainer/kernels/attention/head_norm.h"
#include "trainer/kernels/bias.h"
#include "trainer/kernels/norms/layer_norm.h"
#include "trainer/kernels/norms/norm.h"
#include "trainer/kernels/sum_parts.h"
#include "trainer/kernels/ungated_activation.h"
#include "trainer/ops/gpu.h"
#include "trainer/ops/gpu_tensors.h"

namespace trainyard::trainer::gpu {
namespace {

using torch::Tensor;

Tensor FloatWorkspace(int64_t count, const Tensor& like) {
  return torch::empty({count}, like.options().dtype(torch::kFloat32));
}

float* GradientOf(const std::optional<GradientTarget>& target) {
  return target.has_value() ? target->gradient.data_ptr<float>() : nullptr;
}

bool Accumulates(const std::optional<GradientTarget>& target) {
  return target.has_value() && target->accumulate;
}

// heads: [batch, length, heads, head_size], a view of packed rows that has no gap between samples.
kernels::PackedHeads PackedHeadsOf(const Tensor& heads) {
  const int64_t size = heads.size(3), row_stride = heads.stride(1);
  TORCH_CHECK(heads.stride(3) == 1 && heads.stride(2) == size &&
                  heads.stride(0) == heads.size(1) * row_stride,
              "this kernel needs heads that are a view of packed rows");
  return {.first = heads.data_ptr(),
          .tokens = heads.size(0) * heads.size(1),
          .row_stride = row_stride,
          .heads = heads.size(2),
          .head_size = size,
          .type = TypeOf(heads)};
}

kernels::UngatedActivation UngatedOf(Activation kind) {
  TORCH_CHECK(kind != Activation::kSwiglu,
              "SwiGLU is a gated activation and needs the gated kernels");
  if (kind == Activation::kGelu) return kernels::UngatedActivation::kGelu;
  return kind == Activation::kGeluTanh ? kernels::UngatedActivation::kGeluTanh
                                       : kernels::UngatedActivation::kSquaredRelu;
}

}  // namespace

void RmsNormForward(const Tensor& x, const Tensor& weight, double epsilon, Tensor& y,
                    Tensor& inverse_rms) {
  CheckContiguous(x, weight, y, inverse_rms);
  kernels::RmsNormForward({.x = x.data_ptr(),
                           .weight = weight.data_ptr(),
                           .y = y.data_ptr(),
                           .inverse_rms = inverse_rms.data_ptr<float>(),
                           .rows = Rows(x),
                           .width = x.size(-1),
                           .epsilon = static_cast<float>(epsilon),
                           .type = TypeOf(x)},
                          Stream());
}

void RmsNormBackward(const Tensor& dy, const RmsNormInput& input, const Tensor& residual_gradient,
                     Tensor& dx, const GradientTarget& weight_gradient) {
  CheckContiguous(dy, input.x, input.weight, input.inverse_rms, dx, weight_gradient.gradient);
  const bool has_residual = residual_gradient.defined();
  if (has_residual) CheckContiguous(residual_gradient);
  const int64_t rows = Rows(dy), width = dy.size(-1);
  const Tensor workspace = torch::empty({kernels::RmsNormBackwardWorkspaceFloats(rows, width)},
                                        dy.options().dtype(torch::kFloat32));
  kernels::RmsNormBackward(
      {.dy = dy.data_ptr(),
       .x = input.x.data_ptr(),
       .weight = input.weight.data_ptr(),
       .inverse_rms = input.inverse_rms.data_ptr<float>(),
       .residual_gradient = has_residual ? residual_gradient.data_ptr() : nullptr,
       .dx = dx.data_ptr(),
       .weight_gradient = weight_gradient.gradient.data_ptr<float>(),
       .accumulate = weight_gradient.accumulate,
       .workspace = workspace.data_ptr<float>(),
       .rows = rows,
       .width = width,
       .type = TypeOf(dy)},
      Stream());
}

void LayerNormForward(const Tensor& x, const LayerNormWeights& weights, double epsilon, Tensor& y,
                      Tensor& statistics) {
  CheckContiguous(x, y, statistics);
  kernels::LayerNormForward({.x = x.data_ptr(),
                             .weight = AddressOf(weights.weight),
                             .bias = AddressOf(weights.bias),
                             .y = y.data_ptr(),
                             .mean = statistics[0].data_ptr<float>(),
                             .inverse_std = statistics[1].data_ptr<float>(),
                             .rows = Rows(x),
                             .width = x.size(-1),
                             .epsilon = static_cast<float>(epsilon),
                             .type = TypeOf(x)},
                            Stream());
}

void LayerNormBackward(const Tensor& dy, const LayerNormInput& input,
                       const Tensor& residual_gradient, Tensor& dx,
                       const LayerNormTargets& targets) {
  CheckContiguous(dy, input.x, input.statistics, dx);
  if (residual_gradient.defined()) CheckContiguous(residual_gradient);
  const int64_t rows = Rows(dy), width = dy.size(-1);
  const bool has_sums = targets.weight.has_value() || targets.bias.has_value();
  const Tensor workspace =
      FloatWorkspace(has_sums ? kernels::LayerNormBackwardWorkspaceFloats(rows, width) : 0, dy);
  kernels::LayerNormBackward({.dy = dy.data_ptr(),
                              .x = input.x.data_ptr(),
                              .weight = AddressOf(input.weight),
                              .mean = input.statistics[0].data_ptr<float>(),
                              .inverse_std = input.statistics[1].data_ptr<float>(),
                              .residual_gradient = AddressOf(residual_gradient),
                              .dx = dx.data_ptr(),
                              .weight_gradient = GradientOf(targets.weight),
                              .bias_gradient = GradientOf(targets.bias),
                              .accumulate_weight = Accumulates(targets.weight),
                              .accumulate_bias = Accumulates(targets.bias),
                              .workspace = workspace.data_ptr<float>(),
                              .rows = rows,
                              .width = width,
                              .type = TypeOf(dy)},
                             Stream());
}

void HeadNormForward(Tensor& heads, const Tensor& weight, double epsilon, HeadNormKept& kept) {
  CheckContiguous(weight, kept.inverse_rms);
  if (kept.x.defined()) CheckContiguous(kept.x);
  kernels::HeadNormForward({.heads = PackedHeadsOf(heads),
                            .weight = weight.data_ptr(),
                            .kept = AddressOf(kept.x),
                            .inverse_rms = kept.inverse_rms.data_ptr<float>(),
                            .epsilon = static_cast<float>(epsilon)},
                           Stream());
}

void HeadNormBackward(Tensor& d_heads, const Tensor& weight, const HeadNormKept& kept,
                      const GradientTarget& weight_gradient) {
  CheckContiguous(weight, kept.x, kept.inverse_rms, weight_gradient.gradient);
  const Tensor workspace = FloatWorkspace(
      kernels::HeadNormBackwardWorkspaceFloats(Rows(d_heads), d_heads.size(3)), weight);
  kernels::HeadNormBackward({.gradients = PackedHeadsOf(d_heads),
                             .kept = kept.x.data_ptr(),
                             .weight = weight.data_ptr(),
                             .inverse_rms = kept.inverse_rms.data_ptr<float>(),
                             .weight_gradient = weight_gradient.gradient.data_ptr<float>(),
                             .accumulate = weight_gradient.accumulate,
                             .workspace = workspace.data_ptr<float>()},
                            Stream());
}

void ActivationForward(Activation kind, const Tensor& packed, Tensor& out) {
  CheckContiguous(packed, out);
  kernels::UngatedForward({.x = packed.data_ptr(),
                           .out = out.data_ptr(),
                           .count = out.numel(),
                           .activation = UngatedOf(kind),
                           .type = TypeOf(packed)},
                          Stream());
}

void ActivationBackward(Activation kind, const Tensor& dout, const Tensor& packed, Tensor& d_packed,
                        Tensor& out) {
  CheckContiguous(dout, packed, d_packed);
  if (out.defined()) CheckContiguous(out);
  kernels::UngatedBackward({.dout = dout.data_ptr(),
                            .x = packed.data_ptr(),
                            .dx = d_packed.data_ptr(),
                            .out = AddressOf(out),
                            .count = dout.numel(),
                            .activation = UngatedOf(kind),
                            .type = TypeOf(packed)},
                           Stream());
}

void AddBias(const Tensor& bias, Tensor& y) {
  CheckContiguous(bias, y);
  kernels::AddBias({.bias = bias.data_ptr(),
                    .y = y.data_ptr(),
                    .rows = Rows(y),
                    .width = y.size(-1),
                    .type = TypeOf(y)},
                   Stream());
}

void BiasGradient(const Tensor& dy, const GradientTarget& target) {
  CheckContiguous(dy, target.gradient);
  const int64_t rows = Rows(dy), width = dy.size(-1);
  const Tensor workspace = FloatWorkspace(kernels::BiasGradientWorkspaceFloats(rows, width), dy);
  kernels::BiasGradient({.dy = dy.data_ptr(),
                         .gradient = target.gradient.data_ptr<float>(),
                         .accumulate = target.accumulate,
                         .workspace = workspace.data_ptr<float>(),
                         .rows = rows,
                         .width = width,
                         .type = TypeOf(dy)},
                        Stream());
}

void SumParts(const std::vector<Tensor>& parts, const Tensor& residual, Tensor& sum) {
  TORCH_CHECK(static_cast<int64_t>(parts.size()) <= kernels::kMaxSumParts,
              "a sum has at most 8 parts");
  CheckContiguous(sum);
  kernels::SumPartsArguments arguments{.count = static_cast<int64_t>(parts.size()),
                                       .residual = AddressOf(residual),
                                       .sum = sum.data_ptr(),
                                       .elements = sum.numel(),
                                       .type = TypeOf(sum)};
  for (size_t part = 0; part < parts.size(); ++part) {
    CheckContiguous(parts[part]);
    arguments.parts[part] = parts[part].data_ptr();
  }
  kernels::SumParts(arguments, Stream());
}

}  // namespace trainyard::trainer::gpu
