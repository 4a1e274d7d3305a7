#include "trainer/model/block.h"

#include <string>
#include <utility>

#include "proto/model/model_size.h"
#include "trainer/model/attention/head_norms.h"
#include "trainer/model/attention/latent_attention.h"
#include "trainer/model/experts/moe.h"
#include "trainer/model/layers/mlp.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Indices of a block's parameters in the store.
struct BlockParameters {
  Attention::Parameters attention;
  LatentAttention::Parameters latent_attention;  // If the model has latent attention.
  Mlp::Parameters mlp;                           // If the block has no experts.
  Moe::Parameters moe;                           // If the block has experts.
  int64_t input_norm = 0;
  int64_t ffn_norm = 0;
};

// Assigns indices in the order of Block::Declare.
BlockParameters NumbersOf(const BlockPlace& place, const ModelConfig& model) {
  int64_t next = place.first_parameter;
  const auto with_bias = [&](bool has_bias) {
    LinearParameters numbers{.weight = next++};
    if (has_bias) numbers.bias = next++;
    return numbers;
  };
  const auto linear = [&] { return with_bias(model.add_bias_linear); };
  BlockParameters block;
  if (HasExpertsIn(place.layer, model)) block.moe.experts = {.up = next++, .down = next++};
  if (HasLatentAttention(model)) {
    block.latent_attention = LatentAttention::NumbersFrom(next, model);
    next = block.latent_attention.key_value_norm + 1;
  } else {
    block.attention.query_key_value = with_bias(HasQkvBias(model));
    block.attention.output = linear();
  }
  if (HasExpertsIn(place.layer, model)) {
    block.moe.router = next++;
    if (HasSharedExpert(model)) block.moe.shared = {.up = linear(), .down = linear()};
  } else {
    block.mlp = {.up = linear(), .down = linear()};
  }
  block.input_norm = next;
  block.ffn_norm = next + NormVectors(model);
  block.attention.head_norms = next + 2 * NormVectors(model);
  return block;
}

std::vector<ParameterDeclaration> DeclareAttention(const ModelConfig& model,
                                                   const std::string& prefix,
                                                   const TensorParallel& tensor) {
  if (HasLatentAttention(model)) return LatentAttention::Declare(model, prefix, tensor);
  return Attention::Declare(model, prefix, tensor);
}

std::unique_ptr<ResidualBranch> MakeAttention(const ModelConfig& model, const ParameterStore& store,
                                              const BlockPlace& place, const BlockOptions& options,
                                              const ModelParallel& parallel) {
  const BlockParameters numbers = NumbersOf(place, model);
  const AttentionCode code{options.attention, options.reproducible};
  if (!HasLatentAttention(model)) {
    return std::make_unique<Attention>(model, store, numbers.attention, code, parallel);
  }
  const bool keeps_heads = options.recompute != Recompute::kSelective;
  return std::make_unique<LatentAttention>(model, store, numbers.latent_attention, keeps_heads,
                                           code, parallel);
}

std::vector<ParameterDeclaration> DeclareFeedForward(const ModelConfig& model, int64_t layer,
                                                     const std::string& prefix,
                                                     const TensorParallel& tensor) {
  if (HasExpertsIn(layer, model)) return Moe::Declare(model, prefix, tensor);
  return Mlp::Declare(model, prefix, model.ffn_hidden_size, tensor);
}

std::unique_ptr<ResidualBranch> MakeFeedForward(const ModelConfig& model,
                                                const ParameterStore& store,
                                                const BlockPlace& place, bool keeps_activations,
                                                const ModelParallel& parallel) {
  const BlockParameters numbers = NumbersOf(place, model);
  if (HasExpertsIn(place.layer, model)) {
    return std::make_unique<Moe>(model, store, numbers.moe, place.layer, keeps_activations,
                                 parallel);
  }
  return std::make_unique<Mlp>(store, numbers.mlp, model.activation, keeps_activations, parallel);
}

}  // namespace

std::vector<GroupDeclaration> Block::Declare(const ModelConfig& model, int64_t layer,
                                             const ModelParallel& parallel) {
  const TensorParallel& tensor = parallel.tensor;
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  GroupDeclaration group{"layer " + std::to_string(layer), {}};
  std::vector<GroupDeclaration> groups;
  if (HasExpertsIn(layer, model)) {
    groups.push_back({group.name + kExpertGroupSuffix,
                      Experts::Declare(model, prefix + "mlp.", parallel.expert),
                      ParameterKind::kExpert});
  }
  Append(DeclareAttention(model, prefix, tensor), group.parameters);
  Append(DeclareFeedForward(model, layer, prefix + "mlp.", tensor), group.parameters);
  for (const char* name : {"input_layernorm", "post_attention_layernorm"}) {
    Append(DeclareNorm(prefix + name, model.hidden_size, NormFormOf(model), tensor),
           group.parameters);
  }
  if (model.qk_layernorm) {
    Append(HeadNorms::Declare(prefix, HeadSize(model), tensor), group.parameters);
  }
  groups.push_back(std::move(group));
  return groups;
}

std::array<int64_t, kBlockMatrices> Block::MatricesOf(const BlockPlace& place,
                                                      const ModelConfig& model) {
  const BlockParameters numbers = NumbersOf(place, model);
  std::array<int64_t, kBlockMatrices> matrices;
  matrices.fill(-1);
  const auto set = [&](BlockMatrix matrix, const LinearParameters& parameters) {
    matrices[static_cast<int64_t>(matrix)] = parameters.weight;
  };
  if (!HasLatentAttention(model)) {
    set(BlockMatrix::kQueryKeyValue, numbers.attention.query_key_value);
    set(BlockMatrix::kAttentionOutput, numbers.attention.output);
  }
  const bool has_experts = HasExpertsIn(place.layer, model);
  if (has_experts && !HasSharedExpert(model)) return matrices;
  const Mlp::Parameters& feed_forward = has_experts ? numbers.moe.shared : numbers.mlp;
  set(BlockMatrix::kUp, feed_forward.up);
  set(BlockMatrix::kDown, feed_forward.down);
  return matrices;
}

Block::Block(const ModelConfig& model, const ParameterStore& store, const BlockPlace& place,
             const BlockOptions& options, const ModelParallel& parallel)
    : recompute_(options.recompute),
      parallel_residual_(model.parallel_residual),
      has_experts_(HasExpertsIn(place.layer, model)),
      attention_(MakeAttention(model, store, place, options, parallel)),
      feed_forward_(MakeFeedForward(model, store, place, options.recompute != Recompute::kSelective,
                                    parallel)),
      input_norm_(store, NumbersOf(place, model).input_norm, NormFormOf(model)),
      ffn_norm_(store, NumbersOf(place, model).ffn_norm, NormFormOf(model)) {}

Tensor Block::Forward(const Tensor& x, MicroBatch& micro_batch) const {
  if (recompute_ != Recompute::kFull || !micro_batch.stash.keeps()) {
    return ForwardKeeping(x, micro_batch);
  }
  MicroBatch once = micro_batch.With(Stash(Stash::Mode::kDiscard));
  Tensor y = ForwardKeeping(x, once);
  if (has_experts_) {
    micro_batch.stash.Push(std::move(once.choice.experts));
    micro_batch.stash.Push(std::move(once.choice.counts));
  }
  micro_batch.stash.Push(x);
  return y;
}

Tensor Block::Backward(const Tensor& dy, MicroBatch& micro_batch,
                       WeightGradients& gradients) const {
  if (recompute_ != Recompute::kFull) return BackwardOfKept(dy, micro_batch, gradients);
  MicroBatch again = micro_batch.With(Stash());
  const Tensor x = micro_batch.stash.Pop();
  if (has_experts_) {
    again.choice.counts = micro_batch.stash.Pop();
    again.choice.experts = micro_batch.stash.Pop();
    again.repeats = true;
  }
  ForwardKeeping(x, again);
  return BackwardOfKept(dy, again, gradients);
}

Tensor Block::ForwardKeeping(const Tensor& x, MicroBatch& micro_batch) const {
  const Tensor middle = ForwardHalf({input_norm_, *attention_}, x, x, micro_batch);
  return ForwardHalf({ffn_norm_, *feed_forward_}, parallel_residual_ ? x : middle, middle,
                     micro_batch);
}

Tensor Block::BackwardOfKept(const Tensor& dy, MicroBatch& micro_batch,
                             WeightGradients& gradients) const {
  const Tensor middle = BackwardHalf({ffn_norm_, *feed_forward_}, dy, dy, micro_batch, gradients);
  return BackwardHalf({input_norm_, *attention_}, parallel_residual_ ? dy : middle, middle,
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
