#include "proto/rules/evaluation_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns settings that evaluate two sets and compare checkpoints.
RunConfig Evaluated() {
  RunConfig config;
  config.evaluation.every_steps = 10;
  config.evaluation.sets = {"val /data/c4", "code /data/code"};
  config.checkpoint.keep_best = 2;
  return config;
}

std::vector<std::string> EvaluationMessages(const std::vector<SettingProblem>& problems) {
  std::vector<std::string> messages;
  for (const SettingProblem& problem : problems) messages.push_back(problem.message);
  return messages;
}

TEST(EvaluationRulesTest, TheFirstSetComparesUnlessAnotherIsNamed) {
  RunConfig config = Evaluated();
  EXPECT_THAT(FindEvaluationProblems(config), IsEmpty());
  EXPECT_EQ(BestMetricOf(config), "val_loss");
  config.checkpoint.best_metric = "code_loss";
  EXPECT_THAT(FindEvaluationProblems(config), IsEmpty());
  EXPECT_EQ(BestSetOf(config), "code");
  config.evaluation.sets.clear();
  EXPECT_EQ(BestSetOf(config), "val") << "the val split of the training data";
}

TEST(EvaluationRulesTest, RefusesAMetricThatNoSetReports) {
  RunConfig config = Evaluated();
  config.checkpoint.best_metric = "code_perplexity";
  EXPECT_THAT(EvaluationMessages(FindEvaluationProblems(config)),
              ElementsAre("`checkpoint.best_metric` is code_perplexity, which no evaluation set "
                          "reports; set it to one of: val_loss, code_loss"));
}

TEST(EvaluationRulesTest, RefusesAMetricThatComparesNothing) {
  RunConfig config = Evaluated();
  config.checkpoint.keep_best = 0;
  config.checkpoint.best_metric = "val_loss";
  EXPECT_THAT(EvaluationMessages(FindEvaluationProblems(config)),
              ElementsAre(HasSubstr("needs `checkpoint.keep_best` above 0")));
  config.checkpoint.always_save_checkpoint = true;
  EXPECT_THAT(FindEvaluationProblems(config), testing::SizeIs(1)) << "saves whatever the loss is";
  config.checkpoint.always_save_checkpoint = false;
  EXPECT_THAT(FindEvaluationProblems(config), IsEmpty());
}

TEST(EvaluationRulesTest, SavingByALossNeedsEvaluations) {
  RunConfig config = Evaluated();
  config.evaluation.every_steps = 0;
  config.checkpoint.always_save_checkpoint = false;
  EXPECT_THAT(EvaluationMessages(FindEvaluationProblems(config)),
              ElementsAre("`checkpoint.keep_best` needs evaluations; set `evaluation.every_steps`",
                          "`checkpoint.always_save_checkpoint` needs evaluations; set "
                          "`evaluation.every_steps`"));
  config.evaluation.only = true;
  EXPECT_THAT(FindEvaluationProblems(config), IsEmpty()) << "nothing is saved";
}

TEST(EvaluationRulesTest, SavingTheBestKeepsIt) {
  CheckpointConfig checkpoint;
  EXPECT_EQ(KeptBest(checkpoint), 0);
  checkpoint.always_save_checkpoint = true;
  EXPECT_EQ(KeptBest(checkpoint), 0);
  checkpoint.always_save_checkpoint = false;
  EXPECT_EQ(KeptBest(checkpoint), 1);
  checkpoint.keep_best = 4;
  EXPECT_EQ(KeptBest(checkpoint), 4);
}

TEST(EvaluationRulesTest, EvaluatingOnlyNeedsWeights) {
  RunConfig config;
  EXPECT_THAT(FindEvaluationLaunchProblems(config), IsEmpty());
  config.evaluation.only = true;
  EXPECT_THAT(EvaluationMessages(FindEvaluationLaunchProblems(config)),
              ElementsAre(HasSubstr("`evaluation.only` needs weights; name a checkpoint")));
  config.checkpoint.dir = "/checkpoints/run";
  EXPECT_THAT(FindEvaluationLaunchProblems(config), IsEmpty());
  config.checkpoint = {};
  config.checkpoint.resume_from = "/checkpoints/run/step_000000010";
  EXPECT_THAT(FindEvaluationLaunchProblems(config), IsEmpty());
}

}  // namespace
}  // namespace trainyard
