#include "trainer/model/attention.h"

#include "proto/contract/run_rules.h"
#include "trainer/model/initial_spread.h"
#include "trainer/ops/attention.h"
#include "trainer/ops/linear.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The heads of each row side by side.
Tensor AsRows(const Tensor& heads) { return heads.view({heads.size(0) * heads.size(1), -1}); }

}  // namespace

std::vector<ParameterDeclaration> Attention::Declare(const ModelConfig& model,
                                                     const std::string& prefix) {
  const int64_t hidden = model.hidden_size;
  const int64_t queries = model.num_attention_heads * HeadSize(model);
  const int64_t keys = model.num_query_groups * HeadSize(model);
  const auto matrix = [&](const char* name, std::vector<int64_t> shape, double std) {
    return WholeLogicalTensor(prefix + "self_attn." + name + ".weight", std::move(shape), std);
  };
  const double std = model.init_method_std;
  return {{{matrix("q_proj", {queries, hidden}, std), matrix("k_proj", {keys, hidden}, std),
            matrix("v_proj", {keys, hidden}, std)},
           /*decays=*/true},
          {{matrix("o_proj", {hidden, queries}, ResidualInitStd(model))}, /*decays=*/true}};
}

Attention::Attention(const ModelConfig& model, const ParameterStore& store,
                     const Parameters& parameters, Reproducible reproducible)
    : heads_{model.num_attention_heads, model.num_query_groups, HeadSize(model)},
      store_(store),
      parameters_(parameters),
      reproducible_(reproducible) {}

Tensor Attention::Forward(const Tensor& x, const Tensor& residual, MicroBatch& micro_batch) const {
  const int64_t batch = micro_batch.batch, length = micro_batch.length;
  Tensor packed =
      torch::empty({batch, length, heads_.packed_heads(), heads_.head_size}, x.options());
  Tensor packed_rows = AsRows(packed);
  LinearForward(x, store_.Value(parameters_.query_key_value), packed_rows);
  Rotate(packed, micro_batch.rotary, heads_, Rotation::kForward);
  Tensor out = torch::empty({batch, length, heads_.query_heads, heads_.head_size}, x.options());
  Tensor softmax = AttentionForward(packed, heads_, out);
  Tensor y = torch::empty_like(residual);
  LinearForwardWithResidual(AsRows(out), store_.Value(parameters_.output), residual, y);
  micro_batch.stash.Push(std::move(packed));
  micro_batch.stash.Push(std::move(softmax));
  micro_batch.stash.Push(std::move(out));
  return y;
}

Tensor Attention::Backward(const Tensor& dy, const Tensor& x, MicroBatch& micro_batch,
                           WeightGradients& gradients) const {
  const Tensor out = micro_batch.stash.Pop();
  const Tensor softmax = micro_batch.stash.Pop();
  const Tensor packed = micro_batch.stash.Pop();
  Tensor dout = torch::empty_like(out);
  Tensor dout_rows = AsRows(dout);
  LinearInputGradient(dy, store_.Value(parameters_.output), dout_rows);
  gradients.AddLinear(parameters_.output, dy, AsRows(out));
  Tensor d_packed = torch::empty_like(packed);
  AttentionBackward(dout, {packed, out, softmax}, heads_, reproducible_, d_packed);
  Rotate(d_packed, micro_batch.rotary, heads_, Rotation::kBack);
  Tensor dx = torch::empty_like(x);
  LinearInputGradient(AsRows(d_packed), store_.Value(parameters_.query_key_value), dx);
  gradients.AddLinear(parameters_.query_key_value, AsRows(d_packed), x);
  return dx;
}

}  // namespace trainyard::trainer
