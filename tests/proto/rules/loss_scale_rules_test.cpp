#include "proto/rules/loss_scale_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunConfig InFp16() {
  RunConfig config;
  config.train.precision = Precision::kFp16;
  return config;
}

std::vector<std::string> LossScaleMessages(const RunConfig& config) {
  std::vector<std::string> messages;
  for (const SettingProblem& problem : FindLossScaleProblems(config)) {
    messages.push_back(problem.key + ": " + problem.message);
  }
  return messages;
}

TEST(LossScaleRulesTest, TheDefaultsAreSound) {
  EXPECT_THAT(LossScaleMessages(RunConfig()), IsEmpty());
  EXPECT_THAT(LossScaleMessages(InFp16()), IsEmpty());
  EXPECT_TRUE(ScalesLoss(InFp16().train));
  EXPECT_FALSE(ScalesLoss(TrainConfig()));
}

TEST(LossScaleRulesTest, ScalesArePowersOfTwo) {
  RunConfig config = InFp16();
  config.train.initial_loss_scale = 1000;
  config.train.min_loss_scale = 0.5;
  EXPECT_THAT(LossScaleMessages(config),
              ElementsAre(HasSubstr("`train.initial_loss_scale` (1000) must be a power of two")));
}

TEST(LossScaleRulesTest, TheLeastScaleIsNotAboveTheFirst) {
  RunConfig config = InFp16();
  config.train.initial_loss_scale = config.train.min_loss_scale = 1024;
  EXPECT_THAT(LossScaleMessages(config), IsEmpty());
  config.train.min_loss_scale = 2048;
  EXPECT_THAT(LossScaleMessages(config),
              ElementsAre(HasSubstr("(2048) must not be above `train.initial_loss_scale` (1024)")));
}

TEST(LossScaleRulesTest, OtherPrecisionsHaveNoScale) {
  RunConfig config;
  config.train.initial_loss_scale = 1024;
  config.train.min_loss_scale = 2;
  config.train.loss_scale_window = 5;
  config.train.hysteresis = 1;
  EXPECT_THAT(LossScaleMessages(config),
              ElementsAre(HasSubstr("train.initial_loss_scale"), HasSubstr("train.min_loss_scale"),
                          HasSubstr("train.loss_scale_window"), HasSubstr("train.hysteresis")));
}

TEST(LossScaleRulesTest, MomentsAreNeverFp16) {
  RunConfig config;
  config.optimizer.exp_avg_dtype = Precision::kFp16;
  config.optimizer.exp_avg_sq_dtype = Precision::kFp16;
  EXPECT_THAT(LossScaleMessages(config),
              ElementsAre(HasSubstr("`optimizer.exp_avg_dtype` fp16 is not supported"),
                          HasSubstr("`optimizer.exp_avg_sq_dtype` fp16 is not supported")));
}

}  // namespace
}  // namespace trainyard
