#include "trainer/model/decoder.h"

#include <cmath>

#include "proto/contract/run_rules.h"
#include "trainer/model/recompute.h"
#include "trainer/ops/attention.h"
#include "trainer/ops/compute_type.h"
#include "trainer/ops/cross_entropy.h"
#include "trainer/ops/rms_norm.h"
#include "trainer/ops/swiglu.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

int64_t Declare(ParameterDeclaration declaration, std::vector<ParameterDeclaration>& all) {
  all.push_back(std::move(declaration));
  return static_cast<int64_t>(all.size()) - 1;
}

int64_t DeclareNorm(const std::string& name, int64_t width,
                    std::vector<ParameterDeclaration>& all) {
  return Declare({{WholeLogicalTensor(name, {width}, 0)}, /*decays=*/false}, all);
}

}  // namespace

BlockParameters DecoderBlock::Declare(const ModelConfig& model, int64_t layer,
                                      std::vector<ParameterDeclaration>& all) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  const int64_t hidden = model.hidden_size, ffn = model.ffn_hidden_size;
  const int64_t queries = model.num_attention_heads * HeadSize(model);
  const int64_t keys = model.num_query_groups * HeadSize(model);
  const double std = model.init_method_std;
  // GPT-2 (Radford et al. 2019): the residual stream's variance must not grow with depth.
  const double residual_std = std / std::sqrt(2.0 * static_cast<double>(model.num_layers));
  const auto matrix = [&](const char* name, int64_t rows, int64_t columns, double matrix_std) {
    return WholeLogicalTensor(prefix + name + ".weight", {rows, columns}, matrix_std);
  };
  BlockParameters out;
  out.input_norm = DeclareNorm(prefix + "input_layernorm.weight", hidden, all);
  out.query_key_value = trainer::Declare({{matrix("self_attn.q_proj", queries, hidden, std),
                                           matrix("self_attn.k_proj", keys, hidden, std),
                                           matrix("self_attn.v_proj", keys, hidden, std)},
                                          true},
                                         all);
  out.attention_output =
      trainer::Declare({{matrix("self_attn.o_proj", hidden, queries, residual_std)}, true}, all);
  out.ffn_norm = DeclareNorm(prefix + "post_attention_layernorm.weight", hidden, all);
  out.gate_up = trainer::Declare(
      {{matrix("mlp.gate_proj", ffn, hidden, std), matrix("mlp.up_proj", ffn, hidden, std)}, true},
      all);
  out.down = trainer::Declare({{matrix("mlp.down_proj", hidden, ffn, residual_std)}, true}, all);
  return out;
}

Tensor DecoderBlock::Forward(const Tensor& x, const BlockContext& context) const {
  return FeedForward(Attend(x, context), context);
}

Tensor DecoderBlock::Attend(const Tensor& x, const BlockContext& context) const {
  const ModelConfig& model = context.model;
  const Tensor normal = RmsNorm(x, store_->Value(parameters_.input_norm), model.norm_epsilon);
  const Tensor packed = normal.matmul(store_->Value(parameters_.query_key_value).t());
  const auto [query, key, value] =
      SplitAndRotate(packed.view({context.batch, context.length, -1}), context.rotary,
                     {model.num_attention_heads, model.num_query_groups, HeadSize(model)});
  const Tensor heads = CausalAttention(query, key, value);
  const Tensor rows = heads.transpose(1, 2).reshape({x.size(0), -1});
  return at::addmm(x, rows, store_->Value(parameters_.attention_output).t());
}

Tensor DecoderBlock::FeedForward(const Tensor& x, const BlockContext& context) const {
  const Tensor normal = RmsNorm(x, store_->Value(parameters_.ffn_norm), context.model.norm_epsilon);
  const Tensor packed = normal.matmul(store_->Value(parameters_.gate_up).t());
  return at::addmm(x, SwiGlu(packed), store_->Value(parameters_.down).t());
}

Decoder::Decoder(const ModelConfig& model, const DecoderOptions& options)
    : model_(model), options_(options) {
  std::vector<ParameterDeclaration> declarations;
  const std::vector<int64_t> table = {model.vocab_size, model.hidden_size};
  const double std = model.init_method_std;
  embedding_ =
      Declare({{WholeLogicalTensor("model.embed_tokens.weight", table, std)}, true}, declarations);
  std::vector<BlockParameters> blocks;
  for (int64_t layer = 0; layer < model.num_layers; ++layer) {
    blocks.push_back(DecoderBlock::Declare(model, layer, declarations));
  }
  final_norm_ = DeclareNorm("model.norm.weight", model.hidden_size, declarations);
  head_ = embedding_;
  if (model.untie_embeddings_and_output_weights) {
    head_ = Declare({{WholeLogicalTensor("lm_head.weight", table, std)}, true}, declarations);
  }
  parameters_ = std::make_unique<ParameterStore>(std::move(declarations), options.type,
                                                 options.device, options.seed);
  for (const BlockParameters& block : blocks) blocks_.emplace_back(block, *parameters_);
}

const RotaryTable& Decoder::Rotary(int64_t length) {
  if (!rotary_.cos.defined() || rotary_.cos.size(0) != length) {
    rotary_ = MakeRotaryTable(length, HeadSize(model_), model_.rotary_base,
                              ComputeType(options_.type), options_.device);
  }
  return rotary_;
}

Tensor Decoder::FinalHidden(const Tensor& tokens) {
  const BlockContext context{model_, Rotary(tokens.size(1)), tokens.size(0), tokens.size(1)};
  Tensor x = at::embedding(parameters_->Value(embedding_), tokens.reshape({-1}));
  for (const DecoderBlock& block : blocks_) {
    x = options_.recompute == Recompute::kFull ? ForwardWithRecompute(block, x, context)
                                               : block.Forward(x, context);
  }
  return RmsNorm(x, parameters_->Value(final_norm_), model_.norm_epsilon);
}

Tensor Decoder::SumLoss(const Tensor& tokens) {
  const int64_t length = tokens.size(1) - 1;
  const Tensor hidden = FinalHidden(tokens.narrow(1, 0, length));
  const Tensor targets = tokens.narrow(1, 1, length).reshape({-1});
  return LinearCrossEntropy(hidden, parameters_->Value(head_), targets,
                            CrossEntropyRowsPerChunk(model_.vocab_size, options_.device));
}

Tensor Decoder::Logits(const Tensor& tokens) {
  const Tensor hidden = FinalHidden(tokens);
  return hidden.matmul(parameters_->Value(head_).t())
      .view({tokens.size(0), tokens.size(1), model_.vocab_size});
}

}  // namespace trainyard::trainer
