// Passes tensors to the attention kernels. Attention over all keys of packed rows runs as one part
// with a causal mask.
#include <algorithm>
#include <vector>

#include "trainer/kernels/attention/attention.h"
#include "trainer/kernels/attention/attention_merge.h"
#include "trainer/kernels/attention/head_copy.h"
#include "trainer/kernels/attention/latent_heads.h"
#include "trainer/kernels/cuda_check.h"
#include "trainer/ops/attention/grouped_heads.h"
#include "trainer/ops/gpu.h"
#include "trainer/ops/gpu_tensors.h"

namespace trainyard::trainer::gpu {
namespace {

using kernels::AttentionRowStrides;
using kernels::AttentionShape;
using kernels::AttentionStrides;
using torch::Tensor;

// The stride of a dimension of size 1 is arbitrary. This function normalizes such a stride, so that
// cuDNN does not need a plan for every stride.
AttentionStrides StridesOf(const Tensor& rows) {
  const int64_t heads = rows.size(2), head_size = rows.size(3);
  TORCH_CHECK(head_size == 1 || rows.stride(3) == 1,
              "attention needs a tensor without gaps between elements");
  const int64_t head = heads == 1 ? head_size : rows.stride(2);
  const int64_t token = rows.size(1) == 1 ? heads * head : rows.stride(1);
  return {rows.size(0) == 1 ? rows.size(1) * token : rows.stride(0), token, head};
}

// Returns StridesOf for a tensor whose heads have no gaps.
AttentionStrides DenseStridesOf(const Tensor& rows) {
  const AttentionStrides strides = StridesOf(rows);
  TORCH_CHECK(strides.head == rows.size(3), "attention needs a tensor without gaps between heads");
  return strides;
}

AttentionRowStrides RowStridesOf(const Tensor& log_sum_exp) {
  TORCH_CHECK(log_sum_exp.size(2) == 1 || log_sum_exp.stride(2) == 1,
              "attention needs a log-sum-exp without gaps between positions");
  return {log_sum_exp.stride(0), log_sum_exp.stride(1)};
}

// Returns the query, key and value columns of packed rows.
AttentionPart PartOf(const Tensor& packed, const AttentionHeads& heads) {
  const int64_t queries = heads.query_heads, keys = heads.key_heads;
  return {packed.narrow(2, 0, queries), packed.narrow(2, queries, keys),
          packed.narrow(2, queries + keys, keys), AttentionMask::kCausal};
}

// The limits that the cuDNN graph implements.
struct GraphLimits {
  int64_t window = 0;
  bool has_bias = false;
};

GraphLimits InGraph(const AttentionLimits& limits) {
  return {limits.window, limits.document_bias.defined()};
}

AttentionShape ShapeOf(const AttentionPart& part, const GraphLimits& limits,
                       Reproducible reproducible) {
  return {.type = TypeOf(part.query),
          .batch = part.query.size(0),
          .query_length = part.query.size(1),
          .key_length = part.key.size(1),
          .query_heads = part.query.size(2),
          .key_heads = part.key.size(2),
          .head_size = part.query.size(3),
          .value_head_size = part.value.size(3),
          .scale = static_cast<float>(part.scale > 0 ? part.scale : ScoreScale(part.query.size(3))),
          .causal = part.mask == AttentionMask::kCausal,
          .window = limits.window,
          .biased = limits.has_bias,
          .deterministic = reproducible == Reproducible::kYes,
          .query = StridesOf(part.query),
          .key = StridesOf(part.key),
          .value = StridesOf(part.value)};
}

AttentionShape ForwardShape(const AttentionPart& part, const Tensor& out,
                            const GraphLimits& limits) {
  // The forward pass is deterministic without extra memory, so kYes costs nothing.
  AttentionShape shape = ShapeOf(part, limits, Reproducible::kYes);
  shape.out = StridesOf(out);
  return shape;
}

AttentionShape BackwardShape(const AttentionPart& part, const WholeAttention& whole,
                             const AttentionPartGradients& gradients, const GraphLimits& limits,
                             Reproducible reproducible) {
  AttentionShape shape = ShapeOf(part, limits, reproducible);
  shape.out = StridesOf(whole.out);
  shape.dout = StridesOf(whole.dout);
  shape.d_query = StridesOf(gradients.query);
  shape.d_key = StridesOf(gradients.key);
  shape.d_value = StridesOf(gradients.value);
  return shape;
}

// Returns a tensor without memory, used only for its shape.
Tensor Unallocated(at::IntArrayRef sizes, torch::ScalarType type) {
  return torch::empty(sizes, torch::TensorOptions().dtype(type).device(torch::kMeta));
}

// Returns the part and the output of a micro-batch, without memory. Values of latent attention are
// columns of a tensor that also has the unrotated elements of keys.
AttentionPart UnallocatedPart(const AttentionBatch& batch) {
  const AttentionHeads& heads = batch.heads;
  if (batch.value_size == 0) {
    return PartOf(Unallocated({batch.samples, batch.length, heads.packed_heads(), heads.head_size},
                              batch.type),
                  heads);
  }
  if (batch.value_offset % 8 != 0) {
    throw kernels::UnsupportedShape("values must begin at a multiple of 8 elements");
  }
  const auto rows = [&](int64_t count, int64_t size) {
    return Unallocated({batch.samples, batch.length, count, size}, batch.type);
  };
  return {rows(heads.query_heads, heads.head_size), rows(heads.key_heads, heads.head_size),
          rows(heads.key_heads, batch.value_offset + batch.value_size)
              .narrow(3, batch.value_offset, batch.value_size)};
}

void MakePlans(const AttentionBatch& batch, Reproducible reproducible) {
  const AttentionPart part = UnallocatedPart(batch);
  const Tensor out = Unallocated(
      {batch.samples, batch.length, batch.heads.query_heads, part.value.size(3)}, batch.type);
  const GraphLimits limits{batch.window, batch.has_documents};
  kernels::AttentionForwardWorkspaceBytes(ForwardShape(part, out, limits));
  kernels::AttentionBackwardWorkspaceBytes(BackwardShape(
      part, {out, out, Tensor()}, {part.query, part.key, part.value}, limits, reproducible));
}

const void* MemoryOf(const Tensor& bias) { return bias.defined() ? bias.data_ptr() : nullptr; }

Tensor RunForward(const AttentionPart& part, const Tensor& bias, const AttentionShape& shape,
                  Tensor& out) {
  const Tensor workspace = Workspace(kernels::AttentionForwardWorkspaceBytes(shape), out);
  Tensor log_sum_exp = torch::empty({shape.batch, shape.query_heads, shape.query_length},
                                    out.options().dtype(torch::kFloat32));
  kernels::AttentionForward({.shape = shape,
                             .query = part.query.data_ptr(),
                             .key = part.key.data_ptr(),
                             .value = part.value.data_ptr(),
                             .bias = MemoryOf(bias),
                             .out = out.data_ptr(),
                             .log_sum_exp = log_sum_exp.data_ptr<float>(),
                             .workspace = workspace.data_ptr()},
                            Stream());
  return log_sum_exp;
}

void RunBackward(const AttentionPart& part, const Tensor& bias, const WholeAttention& whole,
                 const AttentionShape& shape, const AttentionPartGradients& gradients) {
  const Tensor log_sum_exp = whole.log_sum_exp.contiguous();
  const Tensor workspace = Workspace(kernels::AttentionBackwardWorkspaceBytes(shape), part.query);
  kernels::AttentionBackward({.shape = shape,
                              .dout = whole.dout.data_ptr(),
                              .query = part.query.data_ptr(),
                              .key = part.key.data_ptr(),
                              .value = part.value.data_ptr(),
                              .bias = MemoryOf(bias),
                              .out = whole.out.data_ptr(),
                              .log_sum_exp = log_sum_exp.data_ptr<float>(),
                              .d_query = gradients.query.data_ptr(),
                              .d_key = gradients.key.data_ptr(),
                              .d_value = gradients.value.data_ptr(),
                              .workspace = workspace.data_ptr()},
                             Stream());
}

// The table has the positions of one sample or of all rows.
kernels::LatentHeadShape ShapeOfLatent(const LatentHeads& heads, const RotaryTable& table) {
  CheckContiguous(table.cos, table.sin);
  const int64_t rotated = heads.shared.size(1), unrotated = heads.query.size(3) - rotated;
  return {.rows = heads.shared.size(0),
          .length = table.cos.size(0),
          .heads = heads.query.size(2),
          .unrotated = unrotated,
          .rotated = rotated,
          .value = heads.expanded.size(3) - unrotated,
          .cos = table.cos.data_ptr<float>(),
          .sin = table.sin.data_ptr<float>(),
          .type = TypeOf(heads.query)};
}

constexpr int64_t kVectorBytes = 16;

// The stride of a dimension of size 1 is arbitrary, and is not used.
kernels::HeadCopyStrides VectorStridesOf(const Tensor& heads) {
  const int64_t elements = kVectorBytes / static_cast<int64_t>(heads.element_size());
  return {heads.stride(0) / elements, heads.stride(1) / elements, heads.stride(2) / elements};
}

kernels::HeadCopyJob JobOf(const HeadCopy& copy) {
  const Tensor& from = copy.from;
  TORCH_CHECK(from.stride(3) == 1 && copy.to.stride(3) == 1,
              "copies of heads need tensors without gaps between elements");
  return {.from = from.data_ptr(),
          .to = copy.to.data_ptr(),
          .from_strides = VectorStridesOf(from),
          .to_strides = VectorStridesOf(copy.to),
          .samples = from.size(0),
          .length = from.size(1),
          .heads = from.size(2),
          .head_vectors = from.size(3) * static_cast<int64_t>(from.element_size()) / kVectorBytes};
}

}  // namespace

void CopyHeads(const std::vector<HeadCopy>& copies) {
  for (size_t first = 0; first < copies.size(); first += kernels::kMaxHeadCopies) {
    kernels::CopyHeadsArguments arguments;
    const size_t end = std::min(copies.size(), first + kernels::kMaxHeadCopies);
    for (size_t i = first; i < end; ++i) arguments.jobs[arguments.count++] = JobOf(copies[i]);
    kernels::CopyHeads(arguments, Stream());
  }
}

bool HasFusedAttention(const Tensor& tensor) {
  return tensor.is_cuda() &&
         (tensor.scalar_type() == torch::kBFloat16 || tensor.scalar_type() == torch::kHalf);
}

void JoinLatentHeads(LatentHeads& heads, const RotaryTable& table) {
  CheckContiguous(heads.query, heads.key, heads.expanded, heads.shared);
  kernels::JoinLatentHeads({.shape = ShapeOfLatent(heads, table),
                            .query = heads.query.data_ptr(),
                            .key = heads.key.data_ptr(),
                            .expanded = heads.expanded.data_ptr(),
                            .shared = heads.shared.data_ptr()},
                           Stream());
}

void SplitLatentHeads(LatentHeads& gradients, const RotaryTable& table) {
  CheckContiguous(gradients.query, gradients.key, gradients.expanded, gradients.shared);
  kernels::SplitLatentHeads({.shape = ShapeOfLatent(gradients, table),
                             .d_query = gradients.query.data_ptr(),
                             .d_key = gradients.key.data_ptr(),
                             .d_expanded = gradients.expanded.data_ptr(),
                             .d_shared = gradients.shared.data_ptr()},
                            Stream());
}

std::string PrepareAttention(const AttentionBatch& batch, Reproducible reproducible) {
  try {
    MakePlans(batch, reproducible);
  } catch (const kernels::UnsupportedShape& error) {
    return error.what();
  }
  return "";
}

Tensor AttentionForward(const Tensor& packed, const AttentionHeads& heads, Tensor& out,
                        const AttentionLimits& limits) {
  CheckContiguous(packed, out);
  const AttentionPart part = PartOf(packed, heads);
  return RunForward(part, limits.document_bias, ForwardShape(part, out, InGraph(limits)), out);
}

void AttentionBackward(const Tensor& dout, const AttentionKept& kept, const AttentionHeads& heads,
                       Reproducible reproducible, Tensor& d_packed) {
  CheckContiguous(dout, kept.packed, kept.out, kept.softmax, d_packed);
  const AttentionPart part = PartOf(kept.packed, heads), into = PartOf(d_packed, heads);
  const WholeAttention whole{dout, kept.out, kept.softmax};
  const AttentionPartGradients gradients{into.query, into.key, into.value};
  const AttentionLimits& limits = kept.form.limits;
  RunBackward(part, limits.document_bias, whole,
              BackwardShape(part, whole, gradients, InGraph(limits), reproducible), gradients);
}

Tensor AttentionPartForward(const AttentionPart& part, Tensor& out) {
  return RunForward(part, Tensor(), ForwardShape(part, out, GraphLimits()), out);
}

void AttentionPartBackward(const AttentionPart& part, const WholeAttention& whole,
                           Reproducible reproducible, const AttentionPartGradients& gradients) {
  RunBackward(part, Tensor(), whole,
              BackwardShape(part, whole, gradients, GraphLimits(), reproducible), gradients);
}

void MergeAttention(Tensor& out_sum, Tensor& log_sum_exp, const Tensor& part_out,
                    const Tensor& part_log_sum_exp) {
  kernels::MergeAttention({.out_sum = out_sum.data_ptr<float>(),
                           .log_sum_exp = log_sum_exp.data_ptr<float>(),
                           .part_out = part_out.data_ptr(),
                           .part_log_sum_exp = part_log_sum_exp.data_ptr<float>(),
                           .out_sum_strides = DenseStridesOf(out_sum),
                           .log_sum_exp_strides = RowStridesOf(log_sum_exp),
                           .part_out_strides = DenseStridesOf(part_out),
                           .part_log_sum_exp_strides = RowStridesOf(part_log_sum_exp),
                           .batch = out_sum.size(0),
                           .length = out_sum.size(1),
                           .heads = out_sum.size(2),
                           .head_size = out_sum.size(3),
                           .part_type = TypeOf(part_out)},
                          Stream());
}

}  // namespace trainyard::trainer::gpu
