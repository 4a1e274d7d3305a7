#include "trainer/model/block.h"

#include <iterator>
#include <string>

#include "proto/model/model_size.h"
#include "trainer/model/head_norms.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Indices of a block's parameters in the store.
struct BlockParameters {
  Attention::Parameters attention;
  Mlp::Parameters mlp;
  int64_t input_norm = 0;
  int64_t ffn_norm = 0;
};

// Assigns indices in the order of Block::Declare.
BlockParameters NumbersFrom(int64_t first, const ModelConfig& model) {
  int64_t next = first;
  const auto linear = [&] {
    LinearParameters numbers{.weight = next++};
    if (model.add_bias_linear) numbers.bias = next++;
    return numbers;
  };
  BlockParameters block;
  for (LinearParameters* numbers : {&block.attention.query_key_value, &block.attention.output,
                                    &block.mlp.up, &block.mlp.down}) {
    *numbers = linear();
  }
  block.input_norm = next;
  block.ffn_norm = next + NormVectors(model);
  block.attention.head_norms = next + 2 * NormVectors(model);
  return block;
}

void Append(std::vector<ParameterDeclaration> more, std::vector<ParameterDeclaration>& all) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

GroupDeclaration Block::Declare(const ModelConfig& model, int64_t layer,
                                const TensorParallel& tensor) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  GroupDeclaration group{"layer " + std::to_string(layer), {}};
  Append(Attention::Declare(model, prefix, tensor), group.parameters);
  Append(Mlp::Declare(model, prefix, tensor), group.parameters);
  for (const char* name : {"input_layernorm", "post_attention_layernorm"}) {
    Append(DeclareNorm(prefix + name, model.hidden_size, NormFormOf(model), tensor),
           group.parameters);
  }
  if (model.qk_layernorm) {
    Append(HeadNorms::Declare(prefix, HeadSize(model), tensor), group.parameters);
  }
  return group;
}

Block::Block(const ModelConfig& model, const ParameterStore& store, int64_t first_parameter,
             const BlockOptions& options, const ModelParallel& parallel)
    : recompute_(options.recompute),
      parallel_residual_(model.parallel_residual),
      attention_(model, store, NumbersFrom(first_parameter, model).attention,
                 {options.attention, options.reproducible}, parallel),
      mlp_(store, NumbersFrom(first_parameter, model).mlp, model.activation,
           options.recompute != Recompute::kSelective, parallel.tensor),
      input_norm_(store, NumbersFrom(first_parameter, model).input_norm, NormFormOf(model)),
      ffn_norm_(store, NumbersFrom(first_parameter, model).ffn_norm, NormFormOf(model)) {}

Tensor Block::Forward(const Tensor& x, MicroBatch& micro_batch) const {
  if (recompute_ != Recompute::kFull || !micro_batch.stash.keeps()) {
    return ForwardKeeping(x, micro_batch);
  }
  micro_batch.stash.Push(x);
  MicroBatch once = micro_batch.With(Stash(Stash::Mode::kDiscard));
  return ForwardKeeping(x, once);
}

Tensor Block::Backward(const Tensor& dy, MicroBatch& micro_batch,
                       WeightGradients& gradients) const {
  if (recompute_ != Recompute::kFull) return BackwardOfKept(dy, micro_batch, gradients);
  MicroBatch again = micro_batch.With(Stash());
  ForwardKeeping(micro_batch.stash.Pop(), again);
  return BackwardOfKept(dy, again, gradients);
}

Tensor Block::ForwardKeeping(const Tensor& x, MicroBatch& micro_batch) const {
  const Tensor middle = ForwardHalf({input_norm_, attention_}, x, x, micro_batch);
  return ForwardHalf({ffn_norm_, mlp_}, parallel_residual_ ? x : middle, middle, micro_batch);
}

Tensor Block::BackwardOfKept(const Tensor& dy, MicroBatch& micro_batch,
                             WeightGradients& gradients) const {
  const Tensor middle = BackwardHalf({ffn_norm_, mlp_}, dy, dy, micro_batch, gradients);
  return BackwardHalf({input_norm_, attention_}, parallel_residual_ ? dy : middle, middle,
                      micro_batch, gradients);
}

Tensor Block::ForwardHalf(const Half& half, const Tensor& x, const Tensor& residual,
                          MicroBatch& micro_batch) const {
  Norm::Result normal = half.norm.Forward(x);
  Tensor y = half.branch.Forward(normal.y, residual, micro_batch);
  if (recompute_ != Recompute::kSelective) micro_batch.stash.Push(std::move(normal.y));
  micro_batch.stash.Push(std::move(normal.statistics));
  micro_batch.stash.Push(x);
  return y;
}

Tensor Block::BackwardHalf(const Half& half, const Tensor& dy, const Tensor& residual_gradient,
                           MicroBatch& micro_batch, WeightGradients& gradients) const {
  const Tensor x = micro_batch.stash.Pop();
  const Tensor statistics = micro_batch.stash.Pop();
  const Tensor normal =
      recompute_ == Recompute::kSelective ? half.norm.Forward(x).y : micro_batch.stash.Pop();
  Tensor d_normal = half.branch.Backward(dy, normal, micro_batch, gradients);
  return half.norm.Backward(std::move(d_normal), x, statistics, residual_gradient, gradients);
}

}  // namespace trainyard::trainer
