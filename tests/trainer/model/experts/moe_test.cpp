#include "trainer/model/experts/moe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/trainer/model/family_settings.h"
#include "tests/trainer/model/plain_llama.h"
#include "tests/trainer/model/stored_slices.h"
#include "tests/trainer/ops/gradient_check.h"
#include "trainer/model/decoder.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

ModelConfig ExpertModel(const std::function<void(ModelConfig&)>& make) {
  ModelConfig model;
  model.num_layers = 2;
  model.hidden_size = 16;
  model.ffn_hidden_size = 24;
  model.num_attention_heads = 4;
  model.num_query_groups = 2;
  model.vocab_size = 31;
  model.init_method_std = 0.2;
  make(model);
  return model;
}

TrainingTokens RandomBatch(int64_t batch, int64_t length) {
  return {torch::randint(0, 31, {batch, length + 1}, torch::kInt64), torch::rand({batch * length})};
}

// Sets the expert bias, if there is one, to different values.
void RandomiseExpertBias(Decoder& decoder) {
  const Tensor bias = decoder.expert_balance().bias;
  if (bias.defined()) bias.copy_(torch::rand(bias.sizes()) * 0.5);
}

void Step(Decoder& decoder, const TrainingTokens& batch) {
  Tensor loss = torch::zeros({}, torch::kFloat64);
  WeightGradients gradients(decoder.parameters());
  decoder.ForwardBackward(batch, loss, gradients);
}

const std::map<std::string, std::function<void(ModelConfig&)>>& ExpertFamilies() {
  static const std::map<std::string, std::function<void(ModelConfig&)>> families = {
      {"Mixtral", MakeMixtral},
      {"Qwen3Moe", MakeQwen3Moe},
      {"DeepSeek", MakeDeepSeekMoe},
      {"OlmoeWithLosses",
       [](ModelConfig& model) {
         MakeMixtral(model);
         model.moe_norm_topk_prob = false;
         model.moe_aux_loss_coeff = 0.5;
         model.moe_z_loss_coeff = 0.1;
       }},
      {"DeepSeekWithSequenceLoss",
       [](ModelConfig& model) {
         MakeDeepSeekMoe(model);
         model.moe_router_load_balancing_type = RouterLoadBalancing::kSeqAuxLoss;
         model.moe_aux_loss_coeff = 0.5;
       }},
      {"MixtralWithCapacity",
       [](ModelConfig& model) {
         MakeMixtral(model);
         model.moe_aux_loss_coeff = 0.5;  // Counts dropped slots.
         model.moe_expert_capacity_factor = 0.75;
       }},
      {"OlmoeWithOneTokenPerExpert",
       [](ModelConfig& model) {
         MakeMixtral(model);
         model.moe_norm_topk_prob = false;
         model.moe_expert_capacity_factor = 0.001;
       }},
      {"DeepSeekWithCapacityByPosition", [](ModelConfig& model) {
         MakeDeepSeekMoe(model);
         model.moe_expert_capacity_factor = 0.75;
         model.moe_token_drop_policy = TokenDropPolicy::kPosition;
       }}};
  return families;
}

TEST(MoeTest, LossAndGradientsEqualThePlainModel) {
  for (const auto& [name, make] : ExpertFamilies()) {
    SCOPED_TRACE(name);
    torch::manual_seed(1);
    const ModelConfig model = ExpertModel(make);
    const TrainingTokens batch = RandomBatch(3, 8);
    DecoderOptions options;
    options.type = torch::kFloat64;
    Decoder decoder(model, options);
    RandomiseExpertBias(decoder);
    PlainLlama plain(model, decoder);
    const Tensor expected = PlainLoss(plain, batch.tokens, batch.loss_weights);
    (expected + plain.balance_loss()).backward();
    Tensor loss = torch::zeros({}, torch::kFloat64);
    WeightGradients gradients(decoder.parameters());
    decoder.ForwardBackward({batch.tokens, batch.loss_weights.to(torch::kFloat64)}, loss,
                            gradients);
    EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-7);
    ParameterStore& store = decoder.parameters();
    for (const StoredSlice& slice : store.slices()) {
      const Tensor reference = plain.weights().at(slice.logical.name).grad();
      EXPECT_LT(RelativeNorm(SliceOf(store.gradients(), slice), reference), 1e-6)
          << slice.logical.name;
    }
  }
}

TEST(MoeTest, RecomputationAndDeferredGradientsChangeNoBit) {
  for (const auto& [name, make] : ExpertFamilies()) {
    SCOPED_TRACE(name);
    torch::manual_seed(2);
    const TrainingTokens batch = RandomBatch(2, 8);
    Decoder kept(ExpertModel(make), {}), deferred(ExpertModel(make), {});
    Step(kept, batch);
    for (const Recompute recompute : {Recompute::kSelective, Recompute::kFull}) {
      DecoderOptions options;
      options.blocks.recompute = recompute;
      Decoder recomputed(ExpertModel(make), options);
      Step(recomputed, batch);
      EXPECT_TRUE(recomputed.parameters().gradients().equal(kept.parameters().gradients()));
    }
    Tensor loss = torch::zeros({}, torch::kFloat64);
    WeightGradients gradients(deferred.parameters(), WeightGradients::Timing::kDeferred);
    deferred.ForwardBackward(batch, loss, gradients);
    gradients.RunDeferred();
    EXPECT_TRUE(deferred.parameters().gradients().equal(kept.parameters().gradients()));
  }
}

// A bias that changes between the two passes would change the choice.
TEST(MoeTest, RecomputationNeverRoutesAgain) {
  torch::manual_seed(3);
  const TrainingTokens batch = RandomBatch(2, 8);
  DecoderOptions options;
  options.blocks.recompute = Recompute::kFull;
  std::vector<Tensor> gradients_of_runs;
  for (const bool moves : {false, true}) {
    Decoder decoder(ExpertModel(MakeDeepSeekMoe), options);
    Tensor loss = torch::zeros({}, torch::kFloat64);
    WeightGradients gradients(decoder.parameters());
    MicroBatch micro_batch = decoder.Begin(0, batch, Stash::Mode::kKeep);
    const Tensor x = decoder.Forward(0, {}, micro_batch);
    if (moves) decoder.expert_balance().bias.copy_(torch::rand({2, 8}) * 10);
    const Tensor dy = decoder.LossAndGradient(x, micro_batch, loss, gradients);
    decoder.Backward(0, dy, micro_batch, gradients);
    EXPECT_TRUE(micro_batch.stash.empty());
    gradients_of_runs.push_back(decoder.parameters().gradients());
  }
  EXPECT_TRUE(gradients_of_runs[0].equal(gradients_of_runs[1]));
}

TEST(MoeTest, RowsAreCountedOncePerTrainingPass) {
  torch::manual_seed(4);
  const TrainingTokens batch = RandomBatch(2, 8);
  for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    DecoderOptions options;
    options.blocks.recompute = recompute;
    Decoder decoder(ExpertModel(MakeDeepSeekMoe), options);
    Step(decoder, batch);
    Tensor loss = torch::zeros({}, torch::kFloat64);
    decoder.Loss(batch, loss);  // An evaluation.
    const Tensor load = decoder.expert_balance().load.sum(1);
    EXPECT_EQ(load[0].item<int64_t>(), 0) << "the first layer is dense";
    EXPECT_EQ(load[1].item<int64_t>(), 2 * 8 * 2);
  }
}

// 16 rows with 2 experts each, 8 experts. The bias prefers experts 0 and 1.
TEST(MoeTest, ForcedBalanceLoadsEveryExpertAlikeAndTrainsTheRouter) {
  for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
    torch::manual_seed(6);
    DecoderOptions options;
    options.blocks.recompute = recompute;
    Decoder decoder(ExpertModel([](ModelConfig& model) {
                      MakeDeepSeekMoe(model);
                      model.moe_router_num_groups = model.moe_router_group_topk = 0;
                      model.moe_router_force_load_balancing = true;
                    }),
                    options);
    decoder.expert_balance().bias.narrow(1, 0, 2).fill_(10);
    Step(decoder, RandomBatch(2, 8));
    EXPECT_TRUE(decoder.expert_balance().load[1].equal(torch::full({8}, 4, torch::kInt64)));
    ParameterStore& store = decoder.parameters();
    for (const StoredSlice& slice : store.slices()) {
      EXPECT_GT(SliceOf(store.gradients(), slice).abs().max().item<double>(), 0)
          << slice.logical.name;
    }
  }
}

double FigureOf(Decoder& decoder, RouterFigure figure) {
  return decoder.expert_balance().Figure(1, figure).item<double>();
}

TEST(MoeTest, FiguresAreMeasuredOncePerTrainingPass) {
  torch::manual_seed(6);
  const TrainingTokens batch = RandomBatch(2, 8);
  std::vector<Tensor> figures;
  for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    DecoderOptions options;
    options.blocks.recompute = recompute;
    Decoder decoder(ExpertModel(ExpertFamilies().at("OlmoeWithLosses")), options);
    decoder.expert_balance().measures = true;
    Step(decoder, batch);
    Tensor loss = torch::zeros({}, torch::kFloat64);
    decoder.Loss(batch, loss);  // An evaluation.
    figures.push_back(decoder.expert_balance().figures);
    EXPECT_GT(FigureOf(decoder, RouterFigure::kEntropy), 0);
    EXPECT_LE(FigureOf(decoder, RouterFigure::kEntropy), 2 * 8);
    EXPECT_GE(FigureOf(decoder, RouterFigure::kAuxLoss), 0.5);
  }
  EXPECT_TRUE(figures[1].equal(figures[0]));
  EXPECT_TRUE(figures[2].equal(figures[0]));
}

TEST(MoeTest, OnlyMeasuredStepsHaveEntropies) {
  torch::manual_seed(7);
  Decoder decoder(ExpertModel(MakeMixtral), {});
  Step(decoder, RandomBatch(2, 8));
  EXPECT_EQ(FigureOf(decoder, RouterFigure::kEntropy), 0);
  EXPECT_NE(FigureOf(decoder, RouterFigure::kLogits), 0);
}

// All tokens choose experts 0 and 1.
TEST(MoeTest, ExpertsWithoutRowsHaveGradientsOfZero) {
  torch::manual_seed(5);
  Decoder decoder(ExpertModel(MakeDeepSeekMoe), {});
  decoder.expert_balance().bias.narrow(1, 0, 2).fill_(10);
  decoder.parameters().gradients().fill_(NAN);
  Step(decoder, RandomBatch(2, 8));
  ParameterStore& store = decoder.parameters();
  for (const StoredSlice& slice : store.slices()) {
    const std::string& name = slice.logical.name;
    const double size = SliceOf(store.gradients(), slice).abs().max().item<double>();
    const bool is_empty = name.find(".experts.") != std::string::npos &&
                          name.find("experts.0.") == std::string::npos &&
                          name.find("experts.1.") == std::string::npos;
    EXPECT_EQ(size == 0, is_empty) << name << " has a gradient of " << size;
  }
}

ModelConfig WithCapacity(ModelConfig model, double factor) {
  model.moe_expert_capacity_factor = factor;
  return model;
}

// All tokens choose experts 0 and 1, which keep one token of each sample.
TEST(MoeTest, DroppedSlotsAreCountedOncePerTrainingPass) {
  torch::manual_seed(6);
  const TrainingTokens batch = RandomBatch(2, 8);
  for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
    DecoderOptions options;
    options.blocks.recompute = recompute;
    Decoder decoder(WithCapacity(ExpertModel(MakeDeepSeekMoe), 0.5), options);
    decoder.expert_balance().bias.narrow(1, 0, 2).fill_(10);
    Step(decoder, batch);
    Tensor loss = torch::zeros({}, torch::kFloat64);
    decoder.Loss(batch, loss);  // An evaluation.
    EXPECT_TRUE(decoder.expert_balance().dropped.equal(torch::tensor({int64_t{0}, int64_t{28}})));
    const Tensor load = decoder.expert_balance().load[1];
    EXPECT_EQ(load[0].item<int64_t>(), 16) << "the bias is moved by the choice";
    EXPECT_EQ(load.sum().item<int64_t>(), 32);
  }
}

TEST(MoeTest, ACapacityForAllTokensChangesNoBit) {
  torch::manual_seed(7);
  const TrainingTokens batch = RandomBatch(2, 8);
  Decoder unlimited(ExpertModel(MakeMixtral), {});
  Decoder limited(WithCapacity(ExpertModel(MakeMixtral), 2), {});
  Step(unlimited, batch);
  Step(limited, batch);
  EXPECT_EQ(limited.expert_balance().dropped.sum().item<int64_t>(), 0);
  EXPECT_TRUE(limited.parameters().gradients().equal(unlimited.parameters().gradients()));
}

// The limit applies to each sample, so other samples of a micro-batch change nothing.
TEST(MoeTest, SamplesDoNotShareCapacity) {
  torch::manual_seed(8);
  const TrainingTokens batch = RandomBatch(3, 8);
  const Decoder decoder(WithCapacity(ExpertModel(MakeMixtral), 0.75), {});
  const Tensor together = decoder.Logits(batch.tokens);
  for (int64_t sample = 0; sample < 3; ++sample) {
    const Tensor alone = decoder.Logits(batch.tokens.narrow(0, sample, 1));
    EXPECT_LT(RelativeNorm(together.narrow(0, sample, 1), alone), 1e-5);
  }
}

// Small changes do not change the choice.
TEST(MoeTest, RouterGradientsWithCapacityEqualCentralDifferences) {
  torch::manual_seed(9);
  TrainingTokens batch = RandomBatch(2, 8);
  batch.loss_weights = batch.loss_weights.to(torch::kFloat64);
  DecoderOptions options;
  options.type = torch::kFloat64;
  Decoder decoder(WithCapacity(ExpertModel(MakeMixtral), 0.75), options);
  Step(decoder, batch);
  ParameterStore& store = decoder.parameters();
  int compared = 0;
  for (const StoredSlice& slice : store.slices()) {
    if (slice.logical.name != "model.layers.1.mlp.gate.weight") continue;
    ++compared;
    Tensor weight = SliceOf(store.values(), slice);
    const Tensor before = weight.clone();
    const Tensor expected = CentralDifferences(
        [&](const Tensor& moved) {
          weight.copy_(moved);
          Tensor loss = torch::zeros({}, torch::kFloat64);
          decoder.Loss(batch, loss);
          return loss.item<double>();
        },
        before);
    weight.copy_(before);
    EXPECT_LT(RelativeNorm(SliceOf(store.gradients(), slice), expected), 1e-6);
  }
  EXPECT_EQ(compared, 1);
}

TEST(MoeTest, NamesAreThoseOfHuggingFace) {
  Decoder decoder(ExpertModel(MakeDeepSeekMoe), {});
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const StoredSlice& slice : decoder.parameters().slices()) {
    shapes[slice.logical.name] = slice.logical.global_shape;
  }
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(shapes["model.layers.0.mlp.up_proj.weight"], (Shape{24, 16}));
  EXPECT_EQ(shapes["model.layers.1.mlp.gate.weight"], (Shape{8, 16}));
  EXPECT_EQ(shapes["model.layers.1.mlp.experts.7.gate_proj.weight"], (Shape{8, 16}));
  EXPECT_EQ(shapes["model.layers.1.mlp.experts.0.down_proj.weight"], (Shape{16, 8}));
  EXPECT_EQ(shapes["model.layers.1.mlp.shared_experts.up_proj.weight"], (Shape{12, 16}));
  EXPECT_EQ(shapes.size(), 9u + 3 + (6 + 1 + 3 * 8 + 3));
}

TEST(MoeTest, SelectiveRecomputationKeepsLess) {
  const auto kept_bytes = [](Recompute recompute) {
    DecoderOptions options;
    options.blocks.recompute = recompute;
    const Decoder decoder(ExpertModel(MakeMixtral), options);
    MicroBatch micro_batch = decoder.Begin(0, RandomBatch(2, 8), Stash::Mode::kKeep);
    decoder.Forward(0, {}, micro_batch);
    return micro_batch.stash.bytes();
  };
  // In each of two layers: two norms, and the row and the activation of a token's two slots.
  EXPECT_EQ(kept_bytes(Recompute::kNone) - kept_bytes(Recompute::kSelective),
            2 * 4 * 16 * (2 * 16 + 2 * (16 + 24)));
  // In each of two layers: the input, and the choice of experts.
  EXPECT_EQ(kept_bytes(Recompute::kFull), 2 * (4 * 16 * 16 + 8 * 16 * 2 + 8 * 4));
}

}  // namespace
}  // namespace trainyard::trainer
