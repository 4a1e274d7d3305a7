#include "trainer/model/attention/attention.h"

#include <algorithm>
#include <utility>

#include "proto/model/model_size.h"
#include "trainer/model/attention/context_attention.h"
#include "trainer/model/attention/exchanged_attention.h"
#include "trainer/model/parameters/initial_spread.h"
#include "trainer/model/parameters/replicated_tensor.h"
#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns the heads of each token, concatenated into one row.
Tensor AsRows(const Tensor& heads) { return heads.view({heads.size(0) * heads.size(1), -1}); }

HeadPlace HeadsHere(const ModelConfig& model, const TensorParallel& tensor) {
  return HeadsOf(model.num_attention_heads, model.num_query_groups, tensor.size(), tensor.index());
}

// Returns this rank's rows of a key or value matrix, or of its bias. If there are fewer key heads
// than ranks, neighboring ranks share a head. Sums over all ranks count a shared head on the first
// of these ranks only (is_first_holder).
std::vector<LogicalTensorSlice> KeysHere(const ModelConfig& model, const LogicalTensorSlice& whole,
                                         const TensorParallel& tensor) {
  const HeadPlace here = HeadsHere(model, tensor);
  const int64_t size = HeadSize(model);
  int64_t counted = here.keys.first;  // First head that belongs to no earlier rank.
  if (tensor.index() > 0) {
    counted = std::max(counted, HeadsOf(model.num_attention_heads, model.num_query_groups,
                                        tensor.size(), tensor.index() - 1)
                                    .keys.end());
  }
  std::vector<LogicalTensorSlice> slices;
  const auto add = [&](int64_t first, int64_t end) {
    if (first == end) return;
    slices.push_back(RowsOf(whole, first * size, (end - first) * size));
    slices.back().is_first_holder = first >= counted;
    slices.back().has_partial_gradient = model.num_query_groups % tensor.size() != 0;
  };
  add(here.keys.first, std::min(counted, here.keys.end()));
  add(std::min(counted, here.keys.end()), here.keys.end());
  return slices;
}

// Declares the joint matrix of the queries, keys and values, or its bias.
ParameterDeclaration DeclareProjection(const ModelConfig& model, const std::string& prefix,
                                       const TensorParallel& tensor, bool is_bias) {
  const int64_t size = HeadSize(model);
  const HeadPlace here = HeadsHere(model, tensor);
  const auto whole = [&](const char* name, int64_t heads) {
    return is_bias ? LogicalVector(prefix + name + ".bias", heads * size, 0)
                   : WholeLogicalTensor(prefix + name + ".weight",
                                        {heads * size, model.hidden_size}, model.init_method_std);
  };
  ParameterDeclaration projection{{RowsOf(whole("q_proj", model.num_attention_heads),
                                          here.queries.first * size, here.queries.length * size)},
                                  /*decays=*/!is_bias};
  for (const char* name : {"k_proj", "v_proj"}) {
    for (LogicalTensorSlice& slice : KeysHere(model, whole(name, model.num_query_groups), tensor)) {
      projection.slices.push_back(std::move(slice));
    }
  }
  return projection;
}

// Returns, for each head of the attention, the index of the projection head that the attention head
// uses. Undefined if the two numberings are equal.
Tensor SpreadOf(const ModelConfig& model, const HeadPlace& here, torch::Device device) {
  if (here.key_slots == here.keys.length) return Tensor();
  const int64_t queries = here.queries.length, keys = here.keys.length;
  const int64_t share = model.num_attention_heads / model.num_query_groups;
  std::vector<int64_t> heads;
  for (int64_t head = 0; head < queries; ++head) heads.push_back(head);
  for (const int64_t first : {queries, queries + keys}) {
    for (int64_t slot = 0; slot < here.key_slots; ++slot) {
      heads.push_back(first + here.KeyOfSlot(slot, share));
    }
  }
  return torch::tensor(heads, torch::kInt64).to(device);
}

// Returns the rows of some samples of a tensor that has a row for each token.
Tensor RowsOf(const IndexRange& samples, const Tensor& rows, const MicroBatch& micro_batch) {
  return rows.narrow(0, samples.first * micro_batch.length, samples.length * micro_batch.length);
}

// Returns the table for some samples.
RotaryTable TableOf(const IndexRange& samples, const MicroBatch& micro_batch) {
  const RotaryTable& table = micro_batch.rotary;
  if (table.cos.size(0) == micro_batch.length) return table;
  return {RowsOf(samples, table.cos, micro_batch), RowsOf(samples, table.sin, micro_batch)};
}

}  // namespace

AttentionForm FormFor(const MicroBatch& micro_batch, const ModelConfig& model,
                      AttentionKernel kernel, const ContextParallel& context) {
  return {{.window = EffectiveWindow(model, micro_batch.length * context.size()),
           .document_starts = micro_batch.document_starts,
           .document_bias = micro_batch.document_bias},
          kernel};
}

std::vector<ParameterDeclaration> Attention::Declare(const ModelConfig& model,
                                                     const std::string& prefix,
                                                     const TensorParallel& tensor) {
  const std::string own = prefix + "self_attn.";
  const int64_t size = HeadSize(model), queries = model.num_attention_heads * size;
  const HeadPlace here = HeadsHere(model, tensor);
  ParameterDeclaration output{
      {ColumnsOfLogicalTensor(own + "o_proj.weight", {model.hidden_size, queries},
                              here.queries.first * size, here.queries.length * size,
                              ResidualInitStd(model))},
      /*decays=*/true};
  ParameterDeclaration projection = DeclareProjection(model, own, tensor, /*is_bias=*/false);
  std::vector<ParameterDeclaration> declared = {std::move(projection)};
  if (HasQkvBias(model)) {
    declared.push_back(DeclareProjection(model, own, tensor, /*is_bias=*/true));
  }
  declared.push_back(std::move(output));
  if (model.add_bias_linear) {
    declared.push_back(DeclareReplicatedVector(own + "o_proj.bias", model.hidden_size, 0, tensor));
  }
  return declared;
}

Attention::Attention(const ModelConfig& model, const ParameterStore& store,
                     const Parameters& parameters, const AttentionCode& code,
                     const ModelParallel& parallel)
    : store_(store), parameters_(parameters), code_(code), model_(model), parallel_(parallel) {
  const HeadPlace here = HeadsHere(model, parallel.tensor);
  projected_ = {here.queries.length, here.keys.length, HeadSize(model)};
  heads_ = {here.queries.length, here.key_slots, HeadSize(model)};
  spread_ = SpreadOf(model, here, store.device());
  has_rotary_ = model.position_embedding_type == PositionEmbedding::kRope;
  if (model.qk_layernorm) norms_.emplace(store, parameters.head_norms, model.norm_epsilon);
}

LinearUse Attention::ProjectionUse(MicroBatch& micro_batch) const {
  return {parameters_.query_key_value, store_, parallel_, &micro_batch};
}

LinearUse Attention::OutputUse(MicroBatch& micro_batch) const {
  return {parameters_.output, store_, parallel_, &micro_batch};
}

Tensor Attention::NewResult(const Tensor& x, const MicroBatch& micro_batch) const {
  return torch::empty({micro_batch.batch, micro_batch.length, heads_.query_heads, heads_.head_size},
                      x.options());
}

AttentionInputs Attention::InputsOf(const Tensor& packed) const {
  const int64_t queries = heads_.query_heads, keys = heads_.key_heads;
  return {packed.narrow(2, 0, queries), packed.narrow(2, queries, keys),
          packed.narrow(2, queries + keys, keys)};
}

Tensor Attention::Spread(const Tensor& projected) const {
  return spread_.defined() ? projected.index_select(2, spread_) : projected;
}

Tensor Attention::SumSpread(const Tensor& d_packed) const {
  if (!spread_.defined()) return d_packed;
  const Tensor sum = torch::zeros(
      {d_packed.size(0), d_packed.size(1), projected_.packed_heads(), projected_.head_size},
      d_packed.options());
  return sum.index_add(2, spread_, d_packed);
}

Tensor Attention::Project(const Tensor& x, MicroBatch& micro_batch) const {
  Tensor projected = torch::empty(
      {micro_batch.batch, micro_batch.length, projected_.packed_heads(), projected_.head_size},
      x.options());
  Tensor projected_rows = AsRows(projected);
  ColumnParallelForward(x, ProjectionUse(micro_batch), projected_rows);
  if (norms_.has_value()) norms_->Forward(projected, projected_, micro_batch);
  if (has_rotary_) Rotate(projected, micro_batch.rotary, projected_, Rotation::kForward);
  return Spread(projected);
}

Tensor Attention::Forward(const Tensor& x, const Tensor& residual, MicroBatch& micro_batch) const {
  if (parallel_.context.exchanges_heads()) return ExchangedForward(x, residual, micro_batch);
  Tensor packed = Project(x, micro_batch);
  Tensor out = NewResult(x, micro_batch);
  const AttentionForm form = FormFor(micro_batch, model_, code_.kernel, parallel_.context);
  Tensor softmax =
      parallel_.context.size() == 1
          ? AttentionForward(packed, heads_, out, form)
          : ContextAttentionForward(InputsOf(packed), parallel_.context, form, out).log_sum_exp;
  Tensor y = RowParallelForward({AsRows(out)}, residual, OutputUse(micro_batch));
  micro_batch.stash.Push(std::move(packed));
  micro_batch.stash.Push(std::move(softmax));
  micro_batch.stash.Push(std::move(out));
  return y;
}

bool Attention::OverlapsProducts(MicroBatch& micro_batch) const {
  return parallel_.tensor.size() == 1 && !norms_.has_value() &&
         !UsesFp8(ProjectionUse(micro_batch)) && !UsesFp8(OutputUse(micro_batch));
}

Tensor Attention::ExchangedForward(const Tensor& x, const Tensor& residual,
                                   MicroBatch& micro_batch) const {
  const bool overlaps = OverlapsProducts(micro_batch);
  const Tensor packed = overlaps ? torch::empty({micro_batch.batch, micro_batch.length,
                                                 heads_.packed_heads(), heads_.head_size},
                                                x.options())
                                 : Project(x, micro_batch);
  Tensor out = NewResult(x, micro_batch);
  const AttentionInputs inputs = InputsOf(packed);
  const AttentionForm form = FormFor(micro_batch, model_, code_.kernel, parallel_.context);
  ExchangedAttentionForward pass(inputs, parallel_.context, form, out);
  for (size_t part = 0; part < pass.parts().size(); ++part) {
    if (overlaps) ProjectPart(x, pass.parts()[part], micro_batch, packed);
    pass.Send(part);
  }
  pass.Compute();
  Tensor y = overlaps ? torch::empty_like(residual) : Tensor();
  for (size_t part = 0; part < pass.parts().size(); ++part) {
    pass.Receive(part);
    if (overlaps) MultiplyOutputPart({out, residual}, pass.parts()[part], micro_batch, y);
  }
  if (!overlaps) y = RowParallelForward({AsRows(out)}, residual, OutputUse(micro_batch));
  ContextAttentionResult result = pass.TakeResult();
  micro_batch.stash.Push(std::move(result.whole.heads));
  micro_batch.stash.Push(std::move(result.log_sum_exp));
  micro_batch.stash.Push(std::move(result.whole.out));
  micro_batch.stash.Push(std::move(out));
  return y;
}

void Attention::ProjectPart(const Tensor& x, const IndexRange& samples, MicroBatch& micro_batch,
                            const Tensor& packed) const {
  Tensor part = packed.narrow(0, samples.first, samples.length);
  Tensor rows = AsRows(part);
  const LinearUse use = ProjectionUse(micro_batch);
  MultiplyInput({RowsOf(samples, x, micro_batch)}, use, rows, BiasOf(use));
  if (!has_rotary_) return;
  Rotate(part, TableOf(samples, micro_batch), projected_, Rotation::kForward);
}

void Attention::MultiplyOutputPart(const OutputTensors& tensors, const IndexRange& samples,
                                   MicroBatch& micro_batch, const Tensor& y) const {
  const LinearUse use = OutputUse(micro_batch);
  Tensor rows = RowsOf(samples, y, micro_batch);
  LinearForwardWithResidual(AsRows(tensors.out.narrow(0, samples.first, samples.length)),
                            store_.Value(use.parameters.weight),
                            RowsOf(samples, tensors.residual, micro_batch), rows, BiasOf(use));
}

Tensor Attention::Backward(const Tensor& dy, const Tensor& x, MicroBatch& micro_batch,
                           WeightGradients& gradients) const {
  const bool exchanges_heads = parallel_.context.exchanges_heads();
  const Tensor out = micro_batch.stash.Pop();
  const Tensor whole_out = exchanges_heads ? micro_batch.stash.Pop() : Tensor();
  const Tensor softmax = micro_batch.stash.Pop();
  const Tensor packed = micro_batch.stash.Pop();
  Tensor dout = torch::empty_like(out);
  Tensor dout_rows = AsRows(dout);
  const LinearUse output = OutputUse(micro_batch);
  LinearFactor dy_rows = RowParallelInputGradient(dy, output, dout_rows);
  PendingTensor x_rows = parallel_.tensor.BeginGather(x);
  const Tensor d_packed = torch::empty(
      {out.size(0), out.size(1), heads_.packed_heads(), heads_.head_size}, out.options());
  const AttentionInputs into = InputsOf(d_packed);
  const AttentionForm form = FormFor(micro_batch, model_, code_.kernel, parallel_.context);
  const ContextAttentionKept whole_kept{into, out, softmax, form, {packed, whole_out}};
  std::optional<ExchangedAttentionBackward> exchanged;
  if (exchanges_heads) exchanged.emplace(dout, whole_kept, parallel_.context);
  AddWeightGradient(std::move(dy_rows), {AsRows(out)}, output, gradients);
  gradients.AddBias(parameters_.output.bias, dy);
  if (exchanges_heads) {
    exchanged->Compute(code_.reproducible);
    if (OverlapsProducts(micro_batch)) {
      return OverlappedInputGradient(*exchanged, {x, d_packed}, micro_batch, gradients);
    }
    for (size_t part = 0; part < exchanged->parts().size(); ++part) {
      exchanged->Receive(part, {into.query, into.key, into.value});
    }
  } else if (parallel_.context.size() == 1) {
    Tensor d_heads = d_packed;
    AttentionBackward(dout, {packed, out, softmax, form}, heads_, code_.reproducible, d_heads);
  } else {
    ContextAttentionBackward(dout, {InputsOf(packed), out, softmax, form}, code_.reproducible,
                             parallel_.context, {into.query, into.key, into.value});
  }
  return ProjectBack(d_packed, x_rows.Get(), micro_batch, gradients);
}

Tensor Attention::ProjectBack(const Tensor& d_packed, const Tensor& x, MicroBatch& micro_batch,
                              WeightGradients& gradients) const {
  Tensor d_projected = SumSpread(d_packed);
  if (has_rotary_) Rotate(d_projected, micro_batch.rotary, projected_, Rotation::kBack);
  if (norms_.has_value()) norms_->Backward(d_projected, projected_, micro_batch, gradients);
  return ColumnParallelBackward({{AsRows(d_projected)}, x}, ProjectionUse(micro_batch), gradients);
}

Tensor Attention::OverlappedInputGradient(ExchangedAttentionBackward& exchanged,
                                          const ProjectionTensors& tensors, MicroBatch& micro_batch,
                                          WeightGradients& gradients) const {
  const LinearUse use = ProjectionUse(micro_batch);
  const AttentionInputs into = InputsOf(tensors.d_packed);
  Tensor dx = torch::empty_like(tensors.x);
  for (size_t i = 0; i < exchanged.parts().size(); ++i) {
    exchanged.Receive(i, {into.query, into.key, into.value});
    const IndexRange& samples = exchanged.parts()[i];
    Tensor part = tensors.d_packed.narrow(0, samples.first, samples.length);
    if (has_rotary_) Rotate(part, TableOf(samples, micro_batch), projected_, Rotation::kBack);
    Tensor rows = RowsOf(samples, dx, micro_batch);
    MultiplyGradient({AsRows(part)}, use, rows);
  }
  AddWeightGradient({AsRows(tensors.d_packed)}, {tensors.x}, use, gradients);
  gradients.AddBias(use.parameters.bias, AsRows(tensors.d_packed));
  return dx;
}

}  // namespace trainyard::trainer
