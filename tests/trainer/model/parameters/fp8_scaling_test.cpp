#include "trainer/model/parameters/fp8_scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "trainer/model/decoder.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class Fp8ScalingTest : public ::testing::Test {
 protected:
  Fp8ScalingTest() {
    model_.num_layers = 2;
    options_.recipe = Fp8Recipe::kDelayed;
    options_.history_length = 3;
    options_.algorithm = Fp8AmaxAlgorithm::kMax;
    options_.dense = {true, true, true, true};
  }

  // Runs a step in which the input of a matrix has this largest value.
  static void Step(Fp8Scaling& scaling, float largest, bool is_finite = true) {
    scaling.BeginStep();
    const Tensor x = torch::tensor({{largest, 0.0F}});
    ToFp8(x, Fp8Format::kE4M3, scaling.ScaleOf(x, kUse), Fp8Arrangement::kRows);
    scaling.ShareAmax();
    scaling.EndStep(torch::tensor(is_finite ? 1.0 : 0.0));
  }

  // Returns the scale that the next step will use for an input with the largest value 1.
  static float ScaleOf(const Fp8Scaling& scaling) {
    Fp8Scaling::TensorUse use = kUse;
    use.records = false;
    return scaling.ScaleOf(torch::ones({1, 1}), use).scale.item<float>();
  }

  static std::vector<float> HistoryOf(const Fp8Scaling& scaling, Fp8Role role) {
    const Tensor values = scaling.history()[kUse.matrix][static_cast<int64_t>(role)].contiguous();
    return {values.data_ptr<float>(), values.data_ptr<float>() + values.numel()};
  }

  inline static const Fp8Scaling::TensorUse kUse{
      .matrix = Fp8MatrixNumber(1, BlockMatrix::kUp), .role = Fp8Role::kInput, .holders = {}};

  ModelConfig model_;
  Fp8Options options_;
};

using History = std::vector<float>;

TEST_F(Fp8ScalingTest, TheLargestValueOfTheHistorySetsTheScale) {
  Fp8Scaling scaling(options_, model_, torch::kCPU);
  for (const float largest : {2.0F, 8.0F, 4.0F}) Step(scaling, largest);
  EXPECT_EQ(HistoryOf(scaling, Fp8Role::kInput), (History{4, 8, 2}));
  EXPECT_EQ(ScaleOf(scaling), 448.0F / 8);
  Step(scaling, 1);
  Step(scaling, 1);
  EXPECT_EQ(HistoryOf(scaling, Fp8Role::kInput), (History{1, 1, 4}));
  EXPECT_EQ(ScaleOf(scaling), 448.0F / 4);
}

TEST_F(Fp8ScalingTest, TheNewestValueSetsTheScale) {
  options_.algorithm = Fp8AmaxAlgorithm::kMostRecent;
  Fp8Scaling scaling(options_, model_, torch::kCPU);
  for (const float largest : {8.0F, 2.0F}) Step(scaling, largest);
  EXPECT_EQ(ScaleOf(scaling), 448.0F / 2);
}

TEST_F(Fp8ScalingTest, TheFirstStepUsesTheTensorItself) {
  Fp8Scaling scaling(options_, model_, torch::kCPU);
  scaling.BeginStep();
  const Tensor x = torch::tensor({{0.5F, -3.5F}});
  EXPECT_EQ(scaling.ScaleOf(x, kUse).scale.item<float>(), 448.0F / 3.5F);
  EXPECT_FALSE(scaling.has_history());
  Step(scaling, 2);
  EXPECT_TRUE(scaling.has_history());
  EXPECT_EQ(scaling.ScaleOf(x, kUse).scale.item<float>(), 448.0F / 2);
}

TEST_F(Fp8ScalingTest, GradientsUseE5M2) {
  Fp8Scaling scaling(options_, model_, torch::kCPU);
  Fp8Scaling::TensorUse use = kUse;
  use.role = Fp8Role::kGradient;
  EXPECT_EQ(scaling.ScaleOf(torch::full({1, 1}, 2.0F), use).scale.item<float>(), 57344.0F / 2);
}

// TransformerEngine instead adds such values to the history, where infinity would prevent changes
// of the scale for as many steps as the history has.
TEST_F(Fp8ScalingTest, TensorsThatDidNotRunOrAreNotFiniteChangeNothing) {
  Fp8Scaling scaling(options_, model_, torch::kCPU);
  Step(scaling, 2);
  for (const float largest : {0.0F, kInfinity, std::nanf("")}) Step(scaling, largest);
  EXPECT_EQ(HistoryOf(scaling, Fp8Role::kInput), (History{2, 0, 0}));
  EXPECT_EQ(HistoryOf(scaling, Fp8Role::kGradient), (History{0, 0, 0}));
  EXPECT_EQ(ScaleOf(scaling), 448.0F / 2);
}

TEST_F(Fp8ScalingTest, AStepThatIsNotFiniteChangesNothing) {
  Fp8Scaling scaling(options_, model_, torch::kCPU);
  Step(scaling, 2);
  Step(scaling, 8, /*is_finite=*/false);
  EXPECT_EQ(HistoryOf(scaling, Fp8Role::kInput), (History{2, 0, 0}));
}

TEST_F(Fp8ScalingTest, ARunThatResumesHasTheScalesOfTheHistory) {
  Fp8Scaling first(options_, model_, torch::kCPU), second(options_, model_, torch::kCPU);
  for (const float largest : {8.0F, 2.0F}) Step(first, largest);
  second.history().copy_(first.history());
  EXPECT_FALSE(second.has_history());
  second.Resume();
  EXPECT_TRUE(second.has_history());
  EXPECT_EQ(ScaleOf(second), ScaleOf(first));
}

TEST_F(Fp8ScalingTest, OnlyTheDelayedRecipeHasState) {
  options_.recipe = Fp8Recipe::kCurrent;
  Fp8Scaling scaling(options_, model_, torch::kCPU);
  Step(scaling, 2);
  EXPECT_FALSE(scaling.history().defined());
  EXPECT_TRUE(scaling.Histories().empty());
  EXPECT_EQ(ScaleOf(scaling), 448);
}

TEST_F(Fp8ScalingTest, NamesTheMatricesThatUseFp8) {
  options_.dense[static_cast<int64_t>(BlockMatrix::kDown)] = false;
  const Fp8Scaling scaling(options_, model_, torch::kCPU);
  std::vector<std::string> names;
  for (const auto& history : scaling.Histories()) names.push_back(history.name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "model.layers.0.self_attn.qkv_proj", "model.layers.0.self_attn.o_proj",
                       "model.layers.0.mlp.up_proj", "model.layers.1.self_attn.qkv_proj",
                       "model.layers.1.self_attn.o_proj", "model.layers.1.mlp.up_proj"}));
}

// A model with FP8 weights, and the samples of one micro-batch.
class Fp8DecoderTest : public ::testing::Test {
 protected:
  Fp8DecoderTest() {
    ModelConfig model;
    model.num_layers = 1;
    model.hidden_size = 32;
    model.ffn_hidden_size = 48;
    model.num_attention_heads = 2;
    model.num_query_groups = 2;
    model.vocab_size = 61;
    model.init_method_std = 0.1;
    DecoderOptions options;
    options.fp8 = {
        .recipe = Fp8Recipe::kDelayed, .history_length = 2, .dense = {true, true, true, true}};
    decoder_ = std::make_unique<Decoder>(model, options);
    batch_ = {torch::randint(61, {1, 17}, torch::kInt64), torch::full({16}, 1.0 / 16)};
  }

  double Loss() const {
    Tensor loss = torch::zeros({}, torch::kFloat64);
    decoder_->Loss(batch_, loss);
    return loss.item<double>();
  }

  void Train() {
    WeightGradients gradients(decoder_->parameters());
    Tensor loss = torch::zeros({}, torch::kFloat64);
    decoder_->ForwardBackward(batch_, loss, gradients);
  }

  // Changes only the weights that have FP8 copies.
  void ScaleFp8Weights(double factor) {
    const ParameterStore& store = decoder_->parameters();
    for (int64_t parameter = 0; parameter < store.size(); ++parameter) {
      if (decoder_->fp8()->Has(parameter)) store.Value(parameter).mul_(factor);
    }
  }

  std::unique_ptr<Decoder> decoder_;
  TrainingTokens batch_;
};

// Each weight of the four matrices has two copies of one byte.
TEST_F(Fp8DecoderTest, KeepsTwoCopiesOfEachWeight) {
  EXPECT_EQ(decoder_->fp8()->bytes(), 0);
  Loss();
  EXPECT_EQ(decoder_->fp8()->bytes(), 2 * 32 * (3 * 32 + 32 + 3 * 48));
}

TEST_F(Fp8DecoderTest, CopiesFollowTheWeights) {
  const torch::NoGradGuard no_grad;
  const double before = Loss();
  ScaleFp8Weights(1.5);
  decoder_->fp8()->OnWeightsChanged();
  const double after = Loss();
  EXPECT_NE(after, before);
  ScaleFp8Weights(1 / 1.5);
  decoder_->fp8()->OnWeightsChanged();
  EXPECT_NEAR(Loss(), before, 1e-6 * before);
}

TEST_F(Fp8DecoderTest, AnEvaluationChangesNoScale) {
  const torch::NoGradGuard no_grad;
  Fp8Scaling& scaling = decoder_->fp8()->scaling();
  scaling.BeginStep();
  Loss();
  scaling.EndStep(torch::ones({}));
  EXPECT_EQ(scaling.history().count_nonzero().item<int64_t>(), 0);
  scaling.BeginStep();
  Train();
  scaling.EndStep(torch::ones({}));
  EXPECT_EQ(scaling.history().count_nonzero().item<int64_t>(), 8) << "four matrices, two roles";
}

}  // namespace
}  // namespace trainyard::trainer
