#include "trainer/model/decoder.h"

#include "proto/contract/run_rules.h"
#include "trainer/ops/compute_type.h"
#include "trainer/ops/embedding.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

ParameterDeclaration DeclareTable(const ModelConfig& model, const char* name) {
  return {{WholeLogicalTensor(name, {model.vocab_size, model.hidden_size}, model.init_method_std)},
          /*decays=*/true};
}

GroupDeclaration DeclareHead(const ModelConfig& model) {
  GroupDeclaration group{"head", {}};
  group.parameters.push_back(
      {{WholeLogicalTensor("model.norm.weight", {model.hidden_size}, 0)}, /*decays=*/false});
  if (model.untie_embeddings_and_output_weights) {
    group.parameters.push_back(DeclareTable(model, "lm_head.weight"));
  }
  return group;
}

// The targets of tokens [batch, length + 1], one a row of activations.
Targets TargetsOf(const TrainingTokens& batch) {
  const int64_t length = batch.tokens.size(1) - 1;
  return {batch.tokens.narrow(1, 1, length).reshape({-1}), batch.loss_weights};
}

}  // namespace

Decoder::Decoder(const ModelConfig& model, const DecoderOptions& options)
    : model_(model), options_(options) {
  std::vector<GroupDeclaration> groups = {DeclareHead(model)};
  std::vector<int64_t> first_of_layer(model.num_layers);
  auto parameters = static_cast<int64_t>(groups.back().parameters.size());
  for (int64_t layer = model.num_layers - 1; layer >= 0; --layer) {
    groups.push_back(Block::Declare(model, layer));
    first_of_layer[layer] = parameters;
    parameters += static_cast<int64_t>(groups.back().parameters.size());
  }
  groups.push_back({"embedding", {DeclareTable(model, "model.embed_tokens.weight")}});
  embedding_ = parameters;
  parameters_ = std::make_unique<ParameterStore>(std::move(groups), options.type, options.device,
                                                 options.seed, options.state);
  for (const int64_t first : first_of_layer) {
    blocks_.emplace_back(model, *parameters_, first, options.blocks);
  }
  const bool is_tied = !model.untie_embeddings_and_output_weights;
  head_.emplace(*parameters_, Norm(*parameters_, 0, model.norm_epsilon), is_tied ? embedding_ : 1);
}

const RotaryTable& Decoder::Rotary(int64_t length) const {
  if (!rotary_.cos.defined() || rotary_.cos.size(0) != length) {
    rotary_ = MakeRotaryTable(length, HeadSize(model_), model_.rotary_base,
                              ComputeType(options_.type), options_.device);
  }
  return rotary_;
}

// tokens: [rows].
Tensor Decoder::Hidden(const Tensor& tokens, MicroBatch& micro_batch) const {
  const Tensor& table = parameters_->Value(embedding_);
  Tensor x = torch::empty({tokens.numel(), table.size(1)}, table.options());
  EmbeddingForward(table, tokens, x);
  for (const Block& block : blocks_) x = block.Forward(x, micro_batch);
  return x;
}

void Decoder::ForwardBackward(const TrainingTokens& batch, Tensor& loss,
                              WeightGradients& gradients) const {
  const int64_t length = batch.tokens.size(1) - 1;
  MicroBatch micro_batch{batch.tokens.size(0), length, Rotary(length), Stash()};
  const Tensor inputs = batch.tokens.narrow(1, 0, length).reshape({-1});
  Tensor gradient =
      head_->LossAndGradient(Hidden(inputs, micro_batch), TargetsOf(batch), loss, gradients);
  int64_t group = 0;
  gradients.FinishGroup(group++);
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    gradient = block->Backward(gradient, micro_batch, gradients);
    gradients.FinishGroup(group++);
  }
  EmbeddingBackward(gradient, inputs, gradients.Target(embedding_));
  gradients.FinishGroup(group);
}

void Decoder::Loss(const TrainingTokens& batch, Tensor& loss) const {
  const int64_t length = batch.tokens.size(1) - 1;
  MicroBatch micro_batch{batch.tokens.size(0), length, Rotary(length),
                         Stash(Stash::Mode::kDiscard)};
  const Tensor inputs = batch.tokens.narrow(1, 0, length).reshape({-1});
  head_->Loss(Hidden(inputs, micro_batch), TargetsOf(batch), loss);
}

Tensor Decoder::Logits(const Tensor& tokens) const {
  MicroBatch micro_batch{tokens.size(0), tokens.size(1), Rotary(tokens.size(1)),
                         Stash(Stash::Mode::kDiscard)};
  return head_->Logits(Hidden(tokens.reshape({-1}), micro_batch))
      .view({tokens.size(0), tokens.size(1), model_.vocab_size});
}

}  // namespace trainyard::trainer
