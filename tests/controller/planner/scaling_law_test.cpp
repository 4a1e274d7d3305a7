#include "controller/planner/scaling_law.h"

#include "gtest/gtest.h"
#include "proto/model/model_size.h"

namespace trainyard::planner {
namespace {

// The single-node guide describes three models. The computed losses must equal the guide's losses.
TEST(ScalingLawTest, GivesTheDocumentsLosses) {
  EXPECT_NEAR(LossOf(1.545e9, 101.909e9), 2.335, 5e-4);
  EXPECT_NEAR(LossOf(2.224e9, 61.545e9), 2.351, 5e-4);
  EXPECT_NEAR(LossOf(1.830e9, 81.727e9), 2.340, 5e-4);
}

TEST(ScalingLawTest, TheRuleOfThumbIsChinchillaItself) {
  const Optimum optimum = RuleOfTwenty(6 * 70e9 * 1.4e12);
  EXPECT_NEAR(optimum.parameters, 70e9, 1);
  EXPECT_NEAR(optimum.tokens, 1.4e12, 100);
}

TEST(ScalingLawTest, NoDivisionHasLessLossThanTheMinimum) {
  for (const double flops : {1e18, 1.36e21, 5.9e23, 3.8e25}) {
    const Optimum best = LossMinimum(flops);
    EXPECT_NEAR(6 * best.parameters * best.tokens, flops, flops * 1e-9);
    for (const double factor : {0.5, 0.97, 1.03, 2.0}) {
      EXPECT_LT(best.loss, LossOf(best.parameters * factor, best.tokens / factor)) << flops;
    }
    EXPECT_LE(best.loss, RuleOfTwenty(flops).loss);
    EXPECT_LE(best.loss, KaplanOptimum(flops).loss);
  }
}

// The optimum by the guide's coefficients has about 14.5 tokens per parameter and exceeds the
// budget by a fifth.
TEST(ScalingLawTest, TheGuidesCoefficientsAreAsPublished) {
  const Optimum optimum = GuideCoefficients(5.88e23);
  EXPECT_NEAR(optimum.tokens / optimum.parameters, 14.6, 0.1);
  EXPECT_NEAR(optimum.flops / 5.88e23, 1.196, 0.001);
}

TEST(ScalingLawTest, KaplanPrefersLargerModels) {
  const Optimum day = KaplanOptimum(1e15 * 86400);
  EXPECT_NEAR(day.parameters, 1.3e9, 1);
  // GPT-3 used this budget, 3.14e23 operations, for 175 B parameters and 300 B tokens.
  EXPECT_NEAR(KaplanOptimum(3.14e23).parameters, 5.2e11, 0.2e11);
  EXPECT_GT(KaplanOptimum(3.14e23).parameters, 5 * RuleOfTwenty(3.14e23).parameters);
}

// LLaMA 3 8B was trained on 15 T tokens. According to the guide, that is about 100 times the rule
// of 20 tokens per parameter.
TEST(ScalingLawTest, OverTrainingIsMeasuredInTheRule) {
  const OverTraining over = OverTrainingOf(8.03e9, 15e12);
  EXPECT_NEAR(over.tokens_per_parameter, 1868, 1);
  EXPECT_NEAR(over.ratio, 93.4, 0.1);
  EXPECT_LT(over.optimal_loss, LossOf(8.03e9, 15e12));
}

ModelConfig LlamaShape() {
  ModelConfig model;
  model.num_layers = 18;
  model.hidden_size = 2048;
  model.ffn_hidden_size = 7168;
  model.num_attention_heads = 16;
  model.num_query_groups = 8;
  model.vocab_size = 128256;
  return model;
}

TEST(ScalingLawTest, TheBestShapeIsNearTheMinimumOfTheLaw) {
  const double flops = 9.4e20;
  const auto best = BestShape(LlamaShape(), 2048, flops);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->model.vocab_size, 128256);
  EXPECT_EQ(best->model.hidden_size / best->model.num_attention_heads, 128);
  EXPECT_EQ(best->model.num_attention_heads, 2 * best->model.num_query_groups);
  EXPECT_EQ(best->parameters, static_cast<double>(ParameterCount(best->model)));
  EXPECT_NEAR(best->tokens * TrainingFlopsPerToken(best->model, 2048), flops, flops * 1e-9);
  // The two losses do not agree exactly: embedding look-ups cost no FLOPs, but attention does.
  EXPECT_NEAR(best->loss, LossMinimum(flops).loss, 0.01);
  EXPECT_LT(best->loss, LossOf(1.545e9, flops / TrainingFlopsPerToken(LlamaShape(), 2048)) + 1e-3);
}

TEST(ScalingLawTest, ABudgetBelowOneTokenHasNoShape) {
  EXPECT_FALSE(BestShape(LlamaShape(), 2048, 1).has_value());
}

}  // namespace
}  // namespace trainyard::planner
