// Passes tensors to the kernels. Attention is in gpu_attention_cuda.cpp. Norms, ungated activations
// and biases are in gpu_norms_cuda.cpp. Experts are in gpu_routing_cuda.cpp and
// gpu_experts_cuda.cpp. Work is queued on the current CUDA stream.
#include "trainer/kernels/activation.h"
#include "trainer/kernels/attention/rotary.h"
#include "trainer/kernels/embedding.h"
#include "trainer/kernels/experts/expert_capacity.h"
#include "trainer/kernels/gemm/gemm.h"
#include "trainer/kernels/loss/cross_entropy.h"
#include "trainer/kernels/loss/vocabulary_cross_entropy.h"
#include "trainer/kernels/optimizer/normal_values.h"
#include "trainer/kernels/optimizer/optimizer.h"
#include "trainer/ops/gemm_products.h"
#include "trainer/ops/gpu.h"
#include "trainer/ops/gpu_tensors.h"

namespace trainyard::trainer::gpu {

using torch::Tensor;

bool HasKernels(const Tensor& tensor) {
  return tensor.is_cuda() &&
         (tensor.scalar_type() == torch::kFloat32 || tensor.scalar_type() == torch::kBFloat16 ||
          tensor.scalar_type() == torch::kHalf);
}

void Rotate(Tensor& packed, const RotaryTable& table, const AttentionHeads& heads,
            Rotation rotation) {
  CheckContiguous(packed, table.cos, table.sin);
  kernels::Rotate({.packed = packed.data_ptr(),
                   .cos = table.cos.data_ptr<float>(),
                   .sin = table.sin.data_ptr<float>(),
                   .rows = packed.size(0) * packed.size(1),
                   .length = packed.size(1),
                   .row_heads = heads.packed_heads(),
                   .rotated_heads = heads.query_heads + heads.key_heads,
                   .head_size = heads.head_size,
                   .rotary_size = 2 * table.cos.size(1),
                   .back = rotation == Rotation::kBack,
                   .type = TypeOf(packed)},
                  Stream());
}

void SwiGluForward(const Tensor& packed, Tensor& out) {
  CheckContiguous(packed, out);
  kernels::SwiGluForward({.packed = packed.data_ptr(),
                          .out = out.data_ptr(),
                          .rows = Rows(out),
                          .width = out.size(-1),
                          .type = TypeOf(packed)},
                         Stream());
}

void SwiGluBackward(const Tensor& dout, const Tensor& packed, Tensor& d_packed, Tensor& out) {
  CheckContiguous(dout, packed, d_packed);
  if (out.defined()) CheckContiguous(out);
  kernels::SwiGluBackward({.dout = dout.data_ptr(),
                           .packed = packed.data_ptr(),
                           .d_packed = d_packed.data_ptr(),
                           .out = out.defined() ? out.data_ptr() : nullptr,
                           .rows = Rows(dout),
                           .width = dout.size(-1),
                           .type = TypeOf(dout)},
                          Stream());
}

void LinearForward(const Tensor& x, const Tensor& weight, Tensor& y, const Tensor& bias) {
  kernels::Gemm(ForwardProduct(x, weight, bias, y), Stream());
}

void LinearForwardWithResidual(const Tensor& x, const Tensor& weight, const Tensor& residual,
                               Tensor& y, const Tensor& bias) {
  CheckContiguous(residual);
  kernels::GemmArguments product = ForwardProduct(x, weight, bias, y);
  product.c = residual.data_ptr();
  kernels::Gemm(product, Stream());
}

void LinearInputGradient(const Tensor& dy, const Tensor& weight, Tensor& dx) {
  kernels::Gemm(InputGradientProduct(dy, weight, dx), Stream());
}

void LinearForwardWithGelu(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& y,
                           Tensor& gelu) {
  CheckContiguous(y);
  kernels::GemmArguments product = ForwardProduct(x, weight, bias, gelu);
  product.epilogue = kernels::GemmEpilogue::kGelu;
  product.gelu_input = y.data_ptr();
  kernels::Gemm(product, Stream());
}

void LinearInputGradientWithGelu(const Tensor& dy, const Tensor& weight, const Tensor& y,
                                 Tensor& d_y) {
  CheckContiguous(y);
  kernels::GemmArguments product = InputGradientProduct(dy, weight, d_y);
  product.epilogue = kernels::GemmEpilogue::kGeluGradient;
  product.gelu_input = y.data_ptr();
  kernels::Gemm(product, Stream());
}

void LinearWeightGradient(const Tensor& dy, const Tensor& x, const GradientTarget& target) {
  if (dy.scalar_type() != x.scalar_type()) return WideWeightGradient(dy, x, target);
  kernels::Gemm(WeightGradientProduct(dy, x, target), Stream());
}

void EmbeddingForward(const Tensor& table, const Tensor& tokens, int64_t first_token, Tensor& out) {
  CheckContiguous(table, tokens, out);
  kernels::EmbeddingForward({.table = table.data_ptr(),
                             .tokens = tokens.data_ptr<int64_t>(),
                             .out = out.data_ptr(),
                             .rows = tokens.numel(),
                             .width = table.size(1),
                             .first_token = first_token,
                             .table_rows = table.size(0),
                             .type = TypeOf(table)},
                            Stream());
}

void AddEmbedding(const Tensor& table, const Tensor& tokens, Tensor& x) {
  CheckContiguous(table, tokens, x);
  kernels::EmbeddingForward({.table = table.data_ptr(),
                             .tokens = tokens.data_ptr<int64_t>(),
                             .out = x.data_ptr(),
                             .accumulate = true,
                             .rows = tokens.numel(),
                             .width = table.size(1),
                             .table_rows = table.size(0),
                             .type = TypeOf(table)},
                            Stream());
}

void EmbeddingBackward(const Tensor& dy, const Tensor& tokens, int64_t first_token,
                       Tensor& gradient) {
  CheckContiguous(dy, tokens, gradient);
  const int64_t rows = tokens.numel(), width = dy.size(-1);
  const Tensor workspace = Workspace(kernels::EmbeddingBackwardWorkspaceBytes(rows, width), dy);
  kernels::EmbeddingBackward({.dy = dy.data_ptr(),
                              .tokens = tokens.data_ptr<int64_t>(),
                              .gradient = gradient.data_ptr<float>(),
                              .workspace = workspace.data_ptr(),
                              .rows = rows,
                              .width = width,
                              .first_token = first_token,
                              .table_rows = gradient.size(0),
                              .type = TypeOf(dy)},
                             Stream());
}

void DropAboveCapacity(const Tensor& experts, const Tensor& weights, const CapacityForm& form,
                       Tensor& marked) {
  CheckContiguous(experts, marked);
  if (weights.defined()) CheckContiguous(weights);
  kernels::DropAboveCapacity({.experts = experts.data_ptr<int64_t>(),
                              .weights = static_cast<const float*>(AddressOf(weights)),
                              .marked = marked.data_ptr<int64_t>(),
                              .sequences = experts.size(0),
                              .slots = experts.size(1) * experts.size(2),
                              .expert_count = form.experts,
                              .capacity = form.capacity},
                             Stream());
}

void CrossEntropy(Tensor& logits, const Targets& targets, LossPass pass, Tensor& loss) {
  CheckContiguous(logits, targets.tokens, targets.weights);
  const Tensor row_losses = torch::empty({logits.size(0)}, logits.options().dtype(torch::kFloat32));
  kernels::CrossEntropy({.logits = logits.data_ptr(),
                         .targets = targets.tokens.data_ptr<int64_t>(),
                         .loss_weights = targets.weights.data_ptr<float>(),
                         .row_losses = row_losses.data_ptr<float>(),
                         .loss = loss.data_ptr<double>(),
                         .with_gradient = pass == LossPass::kLossAndGradient,
                         .rows = logits.size(0),
                         .vocabulary = logits.size(1),
                         .type = TypeOf(logits)},
                        Stream());
}

void CrossEntropyStatistics(const Tensor& logits, const Tensor& target_tokens, int64_t first_token,
                            Tensor& statistics) {
  CheckContiguous(logits, target_tokens, statistics);
  kernels::CrossEntropyStatistics({.logits = logits.data_ptr(),
                                   .targets = target_tokens.data_ptr<int64_t>(),
                                   .statistics = statistics.data_ptr<float>(),
                                   .rows = logits.size(0),
                                   .first_token = first_token,
                                   .width = logits.size(1),
                                   .type = TypeOf(logits)},
                                  Stream());
}

void CrossEntropyOfPart(Tensor& logits, const Targets& targets, int64_t first_token,
                        const Tensor& combined, LossPass pass, Tensor& loss) {
  CheckContiguous(logits, targets.tokens, targets.weights, combined);
  kernels::CrossEntropyOfPart({.logits = logits.data_ptr(),
                               .targets = targets.tokens.data_ptr<int64_t>(),
                               .loss_weights = targets.weights.data_ptr<float>(),
                               .combined = combined.data_ptr<float>(),
                               .loss = loss.data_ptr<double>(),
                               .with_gradient = pass == LossPass::kLossAndGradient,
                               .rows = logits.size(0),
                               .first_token = first_token,
                               .width = logits.size(1),
                               .type = TypeOf(logits)},
                              Stream());
}

void AdamWUpdate(const AdamWState& state, const AdamWFactors& factors, const Tensor& step_values) {
  CheckContiguous(state.values, state.gradients, state.first_moment, state.second_moment);
  const bool is_split = state.low_bits.defined();
  kernels::AdamW(
      {.values = state.values.data_ptr(),
       .low_bits =
           is_split ? reinterpret_cast<uint16_t*>(state.low_bits.data_ptr<int16_t>()) : nullptr,
       .masters = state.masters.defined() ? state.masters.data_ptr<float>() : nullptr,
       .gradients = state.gradients.data_ptr<float>(),
       .first_moment = state.first_moment.data_ptr(),
       .second_moment = state.second_moment.data_ptr(),
       .count = state.values.numel(),
       .first_element = state.first_element,
       .step_values = step_values.data_ptr<double>(),
       .beta1 = factors.beta1,
       .beta2 = factors.beta2,
       .epsilon = factors.epsilon,
       .weight_decay = factors.weight_decay,
       .value_type = TypeOf(state.values),
       .first_moment_type = TypeOf(state.first_moment),
       .second_moment_type = TypeOf(state.second_moment)},
      Stream());
}

void SquaredSum(const Tensor& values, Tensor& sum) {
  CheckContiguous(values);
  const Tensor workspace = torch::empty({kernels::SquaredSumWorkspaceDoubles(values.numel())},
                                        values.options().dtype(torch::kFloat64));
  kernels::SquaredSum({.values = values.data_ptr<float>(),
                       .count = values.numel(),
                       .workspace = workspace.data_ptr<double>(),
                       .sum = sum.data_ptr<double>()},
                      Stream());
}

void FinishNorm(const Tensor& squared_norms, double max_norm, Tensor& step_values) {
  kernels::FinishNorm({.squared_norms = squared_norms.data_ptr<double>(),
                       .parts = squared_norms.numel(),
                       .max_norm = max_norm,
                       .step_values = step_values.data_ptr<double>()},
                      Stream());
}

void TuneMatrixProducts() { kernels::TuneGemms(); }

void SaveTunedMatrixProducts(const std::string& path) { kernels::SaveGemmTable(path); }

void FillNormal(uint64_t key, double std, const PlaceInMatrix& place, Tensor& values) {
  CheckContiguous(values);
  kernels::NormalValues({.values = values.data_ptr<float>(),
                         .key = key,
                         .std = static_cast<float>(std),
                         .rows = values.size(0),
                         .columns = values.size(1),
                         .first = place.first,
                         .stride = place.stride},
                        Stream());
}

}  // namespace trainyard::trainer::gpu
