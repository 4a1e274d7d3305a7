// Takes tensors apart for the attention kernels. Whole attention on packed rows is a causal part.
#include "trainer/config/trainer_error.h"
#include "trainer/kernels/attention.h"
#include "trainer/kernels/attention_merge.h"
#include "trainer/kernels/cuda_check.h"
#include "trainer/ops/gpu.h"
#include "trainer/ops/gpu_tensors.h"

namespace trainyard::trainer::gpu {
namespace {

using kernels::AttentionRowStrides;
using kernels::AttentionShape;
using kernels::AttentionStrides;
using torch::Tensor;

// The stride of a dimension of size 1 has no meaning and may be any number. It is given one value,
// because cuDNN makes a plan for each.
AttentionStrides StridesOf(const Tensor& rows) {
  const int64_t heads = rows.size(2), head_size = rows.size(3);
  TORCH_CHECK(
      (head_size == 1 || rows.stride(3) == 1) && (heads == 1 || rows.stride(2) == head_size),
      "attention was given a tensor with gaps between heads or elements");
  const int64_t token = rows.size(1) == 1 ? heads * head_size : rows.stride(1);
  return {rows.size(0) == 1 ? rows.size(1) * token : rows.stride(0), token};
}

AttentionRowStrides RowStridesOf(const Tensor& log_sum_exp) {
  TORCH_CHECK(log_sum_exp.size(2) == 1 || log_sum_exp.stride(2) == 1,
              "attention was given a log-sum-exp with gaps between positions");
  return {log_sum_exp.stride(0), log_sum_exp.stride(1)};
}

// Columns of packed rows.
AttentionPart PartOf(const Tensor& packed, const AttentionHeads& heads) {
  const int64_t queries = heads.query_heads, keys = heads.key_heads;
  return {packed.narrow(2, 0, queries), packed.narrow(2, queries, keys),
          packed.narrow(2, queries + keys, keys), AttentionMask::kCausal};
}

AttentionShape ShapeOf(const AttentionPart& part, Reproducible reproducible) {
  return {.batch = part.query.size(0),
          .query_length = part.query.size(1),
          .key_length = part.key.size(1),
          .query_heads = part.query.size(2),
          .key_heads = part.key.size(2),
          .head_size = part.query.size(3),
          .causal = part.mask == AttentionMask::kCausal,
          .deterministic = reproducible == Reproducible::kYes,
          .query = StridesOf(part.query),
          .key = StridesOf(part.key),
          .value = StridesOf(part.value)};
}

AttentionShape ForwardShape(const AttentionPart& part, const Tensor& out) {
  // The forward pass is deterministic without more memory.
  AttentionShape shape = ShapeOf(part, Reproducible::kYes);
  shape.out = StridesOf(out);
  return shape;
}

AttentionShape BackwardShape(const AttentionPart& part, const WholeAttention& whole,
                             Reproducible reproducible, const AttentionPartGradients& gradients) {
  AttentionShape shape = ShapeOf(part, reproducible);
  shape.out = StridesOf(whole.out);
  shape.dout = StridesOf(whole.dout);
  shape.d_query = StridesOf(gradients.query);
  shape.d_key = StridesOf(gradients.key);
  shape.d_value = StridesOf(gradients.value);
  return shape;
}

// Tensors without memory, for shapes.
Tensor Unallocated(at::IntArrayRef sizes) {
  return torch::empty(sizes, torch::TensorOptions().dtype(torch::kBFloat16).device(torch::kMeta));
}

void MakePlans(const Tensor& packed, const AttentionHeads& heads, Reproducible reproducible) {
  const Tensor out =
      Unallocated({packed.size(0), packed.size(1), heads.query_heads, heads.head_size});
  const AttentionPart part = PartOf(packed, heads);
  kernels::AttentionForwardWorkspaceBytes(ForwardShape(part, out));
  kernels::AttentionBackwardWorkspaceBytes(
      BackwardShape(part, {out, out, Tensor()}, reproducible, {part.query, part.key, part.value}));
}

}  // namespace

bool HasFusedAttention(const Tensor& tensor) {
  return tensor.is_cuda() && tensor.scalar_type() == torch::kBFloat16;
}

void PrepareAttention(int64_t batch, int64_t length, const AttentionHeads& heads,
                      Reproducible reproducible) {
  try {
    MakePlans(Unallocated({batch, length, heads.packed_heads(), heads.head_size}), heads,
              reproducible);
  } catch (const kernels::UnsupportedShape& error) {
    throw TrainerError(ExitCode::kBadConfig,
                       "cuDNN has no attention for heads of size " +
                           std::to_string(heads.head_size) + " on this GPU (" + error.what() +
                           "). Choose model.hidden_size and model.num_attention_heads so that a "
                           "head's size is a multiple of 8 and at most 256.");
  }
}

Tensor AttentionForward(const Tensor& packed, const AttentionHeads& heads, Tensor& out) {
  CheckContiguous(packed, out);
  return gpu::AttentionPartForward(PartOf(packed, heads), out);
}

void AttentionBackward(const Tensor& dout, const AttentionKept& kept, const AttentionHeads& heads,
                       Reproducible reproducible, Tensor& d_packed) {
  CheckContiguous(dout, kept.packed, kept.out, kept.softmax, d_packed);
  const AttentionPart gradients = PartOf(d_packed, heads);
  gpu::AttentionPartBackward(PartOf(kept.packed, heads), {dout, kept.out, kept.softmax},
                             reproducible, {gradients.query, gradients.key, gradients.value});
}

Tensor AttentionPartForward(const AttentionPart& part, Tensor& out) {
  const AttentionShape shape = ForwardShape(part, out);
  const Tensor workspace = Workspace(kernels::AttentionForwardWorkspaceBytes(shape), out);
  Tensor log_sum_exp = torch::empty({shape.batch, shape.query_heads, shape.query_length},
                                    out.options().dtype(torch::kFloat32));
  kernels::AttentionForward({.shape = shape,
                             .query = part.query.data_ptr(),
                             .key = part.key.data_ptr(),
                             .value = part.value.data_ptr(),
                             .out = out.data_ptr(),
                             .log_sum_exp = log_sum_exp.data_ptr<float>(),
                             .workspace = workspace.data_ptr()},
                            Stream());
  return log_sum_exp;
}

void AttentionPartBackward(const AttentionPart& part, const WholeAttention& whole,
                           Reproducible reproducible, const AttentionPartGradients& gradients) {
  const AttentionShape shape = BackwardShape(part, whole, reproducible, gradients);
  const Tensor log_sum_exp = whole.log_sum_exp.contiguous();
  const Tensor workspace = Workspace(kernels::AttentionBackwardWorkspaceBytes(shape), part.query);
  kernels::AttentionBackward({.shape = shape,
                              .dout = whole.dout.data_ptr(),
                              .query = part.query.data_ptr(),
                              .key = part.key.data_ptr(),
                              .value = part.value.data_ptr(),
                              .out = whole.out.data_ptr(),
                              .log_sum_exp = log_sum_exp.data_ptr<float>(),
                              .d_query = gradients.query.data_ptr(),
                              .d_key = gradients.key.data_ptr(),
                              .d_value = gradients.value.data_ptr(),
                              .workspace = workspace.data_ptr()},
                             Stream());
}

void MergeAttention(Tensor& out_sum, Tensor& log_sum_exp, const Tensor& part_out,
                    const Tensor& part_log_sum_exp) {
  kernels::MergeAttention({.out_sum = out_sum.data_ptr<float>(),
                           .log_sum_exp = log_sum_exp.data_ptr<float>(),
                           .part_out = part_out.data_ptr(),
                           .part_log_sum_exp = part_log_sum_exp.data_ptr<float>(),
                           .out_sum_strides = StridesOf(out_sum),
                           .log_sum_exp_strides = RowStridesOf(log_sum_exp),
                           .part_out_strides = StridesOf(part_out),
                           .part_log_sum_exp_strides = RowStridesOf(part_log_sum_exp),
                           .batch = out_sum.size(0),
                           .length = out_sum.size(1),
                           .heads = out_sum.size(2),
                           .head_size = out_sum.size(3),
                           .part_type = TypeOf(part_out)},
                          Stream());
}

}  // namespace trainyard::trainer::gpu
