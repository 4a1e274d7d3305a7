#include "trainer/model/attention/latent_attention.h"

#include <utility>

#include "proto/layout/layout_parts.h"
#include "proto/model/model_size.h"
#include "trainer/model/attention/rotary_settings.h"
#include "trainer/model/parameters/initial_spread.h"
#include "trainer/model/parameters/replicated_tensor.h"
#include "trainer/ops/linear/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns the heads of each token, concatenated into one row.
Tensor RowsOfHeads(const Tensor& heads) { return heads.flatten(0, 1).flatten(1); }

// Returns the form of the norms of the vectors of lower rank: always RMSNorm, even if the model's
// other norms are different.
NormForm LatentNormForm(const ModelConfig& model) {
  return {Normalization::kRmsNorm, 1, model.norm_epsilon};
}

// Declares the joint matrix of the vectors of lower rank. Each rank computes the gradient from its
// own rows.
ParameterDeclaration DeclareDown(const ModelConfig& model, const std::string& prefix,
                                 const TensorParallel& tensor) {
  ParameterDeclaration down{{}, /*decays=*/true};
  const auto add = [&](const char* name, int64_t rows) {
    LogicalTensorSlice slice =
        WholeLogicalTensor(prefix + name, {rows, model.hidden_size}, model.init_method_std);
    down.slices.push_back(Replicated(std::move(slice), tensor));
  };
  if (model.q_lora_rank > 0) add("q_a_proj.weight", model.q_lora_rank);
  add("kv_a_proj_with_mqa.weight", model.kv_lora_rank + model.qk_pos_emb_head_dim);
  return down;
}

}  // namespace

std::vector<ParameterDeclaration> LatentAttention::Declare(const ModelConfig& model,
                                                           const std::string& prefix,
                                                           const TensorParallel& tensor) {
  const std::string own = prefix + "self_attn.";
  const int64_t heads = model.num_attention_heads;
  const IndexRange here = PartOf(heads, tensor.size(), tensor.index());
  const auto rows_of_heads = [&](const char* name, int64_t size, int64_t width) {
    return ParameterDeclaration{
        {RowsOfLogicalTensor(own + name, {heads * size, width}, here.first * size,
                             here.length * size, model.init_method_std)},
        /*decays=*/true};
  };
  const bool has_query_rank = model.q_lora_rank > 0;
  std::vector<ParameterDeclaration> all = {DeclareDown(model, own, tensor)};
  all.push_back(rows_of_heads(has_query_rank ? "q_b_proj.weight" : "q_proj.weight",
                              QueryHeadSize(model),
                              has_query_rank ? model.q_lora_rank : model.hidden_size));
  all.push_back(
      rows_of_heads("kv_b_proj.weight", model.qk_head_dim + model.v_head_dim, model.kv_lora_rank));
  all.push_back(
      {{ColumnsOfLogicalTensor(own + "o_proj.weight", {model.hidden_size, heads * model.v_head_dim},
                               here.first * model.v_head_dim, here.length * model.v_head_dim,
                               ResidualInitStd(model))},
       /*decays=*/true});
  const NormForm norm = LatentNormForm(model);
  if (has_query_rank) {
    Append(DeclareNorm(own + "q_a_layernorm", model.q_lora_rank, norm, tensor), all);
  }
  Append(DeclareNorm(own + "kv_a_layernorm", model.kv_lora_rank, norm, tensor), all);
  return all;
}

LatentAttention::Parameters LatentAttention::NumbersFrom(int64_t first, const ModelConfig& model) {
  Parameters numbers{.down = first,
                     .query = {.weight = first + 1},
                     .key_value = {.weight = first + 2},
                     .output = {.weight = first + 3}};
  int64_t next = first + 4;
  if (model.q_lora_rank > 0) numbers.query_norm = next++;
  numbers.key_value_norm = next;
  return numbers;
}

LatentAttention::LatentAttention(const ModelConfig& model, const ParameterStore& store,
                                 const Parameters& parameters, bool keeps_heads,
                                 const AttentionCode& code, const ModelParallel& parallel)
    : keeps_heads_(keeps_heads),
      sizes_{.heads =
                 PartOf(model.num_attention_heads, parallel.tensor.size(), parallel.tensor.index())
                     .length,
             .unrotated = model.qk_head_dim,
             .rotated = model.qk_pos_emb_head_dim,
             .value = model.v_head_dim,
             .query_rank = model.q_lora_rank,
             .key_value_rank = model.kv_lora_rank},
      scale_(LatentScoreScale(model)),
      model_(model),
      store_(store),
      parameters_(parameters),
      key_value_norm_(store, parameters.key_value_norm, LatentNormForm(model)),
      code_(code),
      parallel_(parallel) {
  if (model.q_lora_rank > 0) {
    query_norm_.emplace(store, parameters.query_norm, LatentNormForm(model));
  }
}

LatentAttention::Latent LatentAttention::Normalise(const Norm& norm, Tensor vector) {
  Norm::Result result = norm.Forward(vector);
  return {std::move(vector), std::move(result.statistics), std::move(result.y)};
}

LatentAttention::Latents LatentAttention::Lower(const Tensor& x) const {
  const Tensor weight = store_.Value(parameters_.down);
  Tensor down = torch::empty({x.size(0), weight.size(0)}, x.options());
  LinearForward(x, weight, down);
  int64_t first = 0;
  const auto next = [&](int64_t width) {
    first += width;
    return down.narrow(1, first - width, width).contiguous();
  };
  Latents latents;
  if (query_norm_.has_value()) latents.query = Normalise(*query_norm_, next(sizes_.query_rank));
  latents.key_value = Normalise(key_value_norm_, next(sizes_.key_value_rank));
  latents.shared = next(sizes_.rotated);
  return latents;
}

LatentHeads LatentAttention::Raise(const Tensor& x, const Latents& latents,
                                   const MicroBatch& micro_batch) const {
  const auto empty = [&](int64_t head_size) {
    return torch::empty({micro_batch.batch, micro_batch.length, sizes_.heads, head_size},
                        x.options());
  };
  PendingTensor shared = parallel_.tensor.BeginGather(latents.shared);
  LatentHeads heads{empty(sizes_.unrotated + sizes_.rotated),
                    empty(sizes_.unrotated + sizes_.rotated),
                    empty(sizes_.unrotated + sizes_.value),
                    {}};
  Tensor query = RowsOfHeads(heads.query), expanded = RowsOfHeads(heads.expanded);
  ColumnParallelForward(query_norm_.has_value() ? latents.query.normal : x,
                        {parameters_.query, store_, parallel_}, query);
  ColumnParallelForward(latents.key_value.normal, {parameters_.key_value, store_, parallel_},
                        expanded);
  heads.shared = shared.Get();
  JoinLatentHeads(heads, micro_batch.rotary);
  return heads;
}

AttentionInputs LatentAttention::InputsOf(const LatentHeads& heads) const {
  return {heads.query, heads.key, heads.expanded.narrow(3, sizes_.unrotated, sizes_.value), scale_};
}

Tensor LatentAttention::Forward(const Tensor& x, const Tensor& residual,
                                MicroBatch& micro_batch) const {
  Latents latents = Lower(x);
  LatentHeads heads = Raise(x, latents, micro_batch);
  Tensor out = torch::empty({micro_batch.batch, micro_batch.length, sizes_.heads, sizes_.value},
                            x.options());
  Tensor log_sum_exp =
      ContextAttentionForward(InputsOf(heads), parallel_.context,
                              FormFor(micro_batch, model_, code_.kernel, parallel_.context), out)
          .log_sum_exp;
  Tensor y =
      RowParallelForward({RowsOfHeads(out)}, residual, {parameters_.output, store_, parallel_});
  Keep(std::move(latents), std::move(heads), micro_batch);
  micro_batch.stash.Push(std::move(log_sum_exp));
  micro_batch.stash.Push(std::move(out));
  return y;
}

void LatentAttention::Keep(Latents latents, LatentHeads heads, MicroBatch& micro_batch) const {
  Stash& stash = micro_batch.stash;
  const auto push = [&](Latent& latent) {
    stash.Push(std::move(latent.vector));
    if (!keeps_heads_) return;
    stash.Push(std::move(latent.statistics));
    stash.Push(std::move(latent.normal));
  };
  if (query_norm_.has_value()) push(latents.query);
  push(latents.key_value);
  if (!keeps_heads_) return stash.Push(std::move(latents.shared));
  stash.Push(std::move(heads.query));
  stash.Push(std::move(heads.key));
  stash.Push(std::move(heads.expanded));
}

LatentHeads LatentAttention::Restore(const Tensor& x, MicroBatch& micro_batch,
                                     Latents& latents) const {
  Stash& stash = micro_batch.stash;
  LatentHeads heads;
  if (keeps_heads_) {
    heads.expanded = stash.Pop();
    heads.key = stash.Pop();
    heads.query = stash.Pop();
  } else {
    latents.shared = stash.Pop();
  }
  const auto pop = [&](const Norm& norm) {
    if (!keeps_heads_) return Normalise(norm, stash.Pop());
    Latent latent;
    latent.normal = stash.Pop();
    latent.statistics = stash.Pop();
    latent.vector = stash.Pop();
    return latent;
  };
  latents.key_value = pop(key_value_norm_);
  if (query_norm_.has_value()) latents.query = pop(*query_norm_);
  return keeps_heads_ ? heads : Raise(x, latents, micro_batch);
}

Tensor LatentAttention::Backward(const Tensor& dy, const Tensor& x, MicroBatch& micro_batch,
                                 WeightGradients& gradients) const {
  const Tensor out = micro_batch.stash.Pop();
  const Tensor log_sum_exp = micro_batch.stash.Pop();
  Latents latents;
  const LatentHeads heads = Restore(x, micro_batch, latents);
  Tensor dout = torch::empty_like(out);
  Tensor dout_rows = RowsOfHeads(dout);
  const LinearUse output{parameters_.output, store_, parallel_};
  LinearFactor dy_rows = RowParallelInputGradient(dy, output, dout_rows);
  AddWeightGradient(std::move(dy_rows), {RowsOfHeads(out)}, output, gradients);
  const AttentionInputs inputs = InputsOf(heads);
  const LatentHeads d_heads = HeadGradients(
      dout,
      {inputs, out, log_sum_exp, FormFor(micro_batch, model_, code_.kernel, parallel_.context)},
      heads, micro_batch);
  return BackwardOfHeads(d_heads, x, latents, gradients);
}

LatentHeads LatentAttention::HeadGradients(const Tensor& dout, const ContextAttentionKept& kept,
                                           const LatentHeads& heads,
                                           const MicroBatch& micro_batch) const {
  LatentHeads gradients{torch::empty_like(heads.query), torch::empty_like(heads.key),
                        torch::empty_like(heads.expanded),
                        torch::empty({micro_batch.rows(), sizes_.rotated}, dout.options())};
  const AttentionInputs into = InputsOf(gradients);
  ContextAttentionBackward(dout, kept, code_.reproducible, parallel_.context,
                           {into.query, into.key, into.value});
  SplitLatentHeads(gradients, micro_batch.rotary);
  return gradients;
}

Tensor LatentAttention::BackwardOfHeads(const LatentHeads& d_heads, const Tensor& x,
                                        const Latents& latents, WeightGradients& gradients) const {
  PendingTensor d_shared = parallel_.tensor.BeginSum(d_heads.shared);
  const Tensor d_query_rows = RowsOfHeads(d_heads.query);
  std::vector<Tensor> d_down;
  Tensor d_from_query;  // The gradient of x through queries that are computed from x.
  if (query_norm_.has_value()) {
    d_down.push_back(
        BackwardOfLatent(d_query_rows, latents.query, parameters_.query, *query_norm_, gradients));
  } else {
    d_from_query = ColumnParallelBackward({{d_query_rows}, parallel_.tensor.Gather(x)},
                                          {parameters_.query, store_, parallel_}, gradients);
  }
  d_down.push_back(BackwardOfLatent(RowsOfHeads(d_heads.expanded), latents.key_value,
                                    parameters_.key_value, key_value_norm_, gradients));
  d_down.push_back(d_shared.Get());
  const Tensor d_rows = at::cat(d_down, 1);
  Tensor dx = torch::empty_like(x);
  LinearInputGradient(d_rows, store_.Value(parameters_.down), dx);
  gradients.AddLinear(parameters_.down, d_rows, x);
  return d_from_query.defined() ? dx.add_(d_from_query) : dx;
}

Tensor LatentAttention::BackwardOfLatent(const Tensor& d_rows, const Latent& latent,
                                         const LinearParameters& up, const Norm& norm,
                                         WeightGradients& gradients) const {
  const Tensor rows = parallel_.tensor.Gather(latent.normal);
  Tensor d_normal = ColumnParallelBackward({{d_rows}, rows}, {up, store_, parallel_}, gradients);
  return norm.Backward(std::move(d_normal), latent.vector, latent.statistics, Tensor(), gradients);
}

}  // namespace trainyard::trainer
