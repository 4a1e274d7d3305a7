#include "controller/planner/smoke_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SmokeFacts Good() {
  SmokeFacts facts;
  facts.config = Settings(Llama(18, 2048, 7168, 16), 2048, 384, 8).Dp(2).Zero(1).config;
  facts.config.model.vocab_size = 128256;
  facts.config.train.steps = 10;
  facts.config.optimizer.lr = 3e-4;
  facts.config.optimizer.clip_grad = 1;
  for (int i = 0; i < 10; ++i) facts.losses.push_back(12.1 - 0.2 * i);
  facts.grad_norm = 1.5;
  facts.tokens_per_second = 21000;
  facts.predicted_tokens_per_second = 22700;
  facts.mfu = 0.55;
  facts.memory_bytes = 40e9;
  facts.predicted_bytes = 40.5e9;
  facts.checkpoint = SavedState::kReadable;
  facts.checkpoint_text = "/data/checkpoints/7";
  return facts;
}

std::vector<std::string> NamesOf(const std::vector<SmokeCheck>& checks) {
  std::vector<std::string> names;
  for (const SmokeCheck& check : checks) names.push_back(check.name);
  return names;
}

// Returns the only failed check. Fails the test unless exactly one check failed.
SmokeCheck WrongOne(const SmokeFacts& facts) {
  const std::vector<SmokeCheck> checks = CheckSmoke(facts);
  const auto is_wrong = [](const SmokeCheck& check) { return !check.ok; };
  EXPECT_EQ(std::count_if(checks.begin(), checks.end(), is_wrong), 1);
  const auto found = std::find_if(checks.begin(), checks.end(), is_wrong);
  if (found == checks.end()) return {};
  EXPECT_FALSE(found->findings.empty());
  return *found;
}

TEST(SmokeChecksTest, AHealthyRunIsOk) {
  const std::vector<SmokeCheck> checks = CheckSmoke(Good());
  EXPECT_THAT(NamesOf(checks),
              ElementsAre("steps", "first loss", "loss", "memory", "tokens/s", "checkpoint"));
  for (const SmokeCheck& check : checks) EXPECT_TRUE(check.ok) << check.name << check.found;
}

TEST(SmokeChecksTest, ARunThatEndsEarlySaysWhy) {
  SmokeFacts facts = Good();
  facts.losses.resize(3);
  facts.end = "rank 1 exited with code 66 (no input)";
  const SmokeCheck wrong = WrongOne(facts);
  EXPECT_EQ(wrong.name, "steps");
  EXPECT_EQ(wrong.found, "3 of 10 steps");
  EXPECT_THAT(wrong.findings[0].why, HasSubstr("no input"));
}

TEST(SmokeChecksTest, ARunWithoutMemoryGetsAdviceOnMemory) {
  SmokeFacts facts = Good();
  facts.losses.clear();
  facts.memory_bytes = facts.tokens_per_second = 0;
  facts.end = "rank 0 exited with code 78: CUDA out of memory";
  facts.device_bytes = 24e9;
  EXPECT_EQ(WrongOne(facts).findings[0].what, "out of memory");
}

TEST(SmokeChecksTest, AFirstLossFarFromLnVocabularyIsWrong) {
  SmokeFacts facts = Good();
  facts.losses.assign(10, 2.0);
  EXPECT_THAT(WrongOne(facts).findings[0].why, HasSubstr("ln(vocabulary) = 11.76"));
  EXPECT_THAT(WrongOne(facts).findings[0].right, HasSubstr("data"));
  facts.losses.assign(10, 40.0);
  EXPECT_THAT(WrongOne(facts).findings[0].right, HasSubstr("init_method_std"));
  facts.config.checkpoint.resume_from = "/ckpt";
  for (const SmokeCheck& check : CheckSmoke(facts)) EXPECT_NE(check.name, "first loss");
}

TEST(SmokeChecksTest, ALossThatGrowsIsWrong) {
  SmokeFacts facts = Good();
  facts.losses.back() = facts.losses[8] = facts.losses[7] = 13;
  facts.grad_norm = 9;
  const SmokeCheck wrong = WrongOne(facts);
  EXPECT_THAT(wrong.findings[0].what, HasSubstr("the loss grows"));
  EXPECT_THAT(wrong.findings[0].right, HasSubstr("warm-up"));
}

TEST(SmokeChecksTest, ALossThatIsNotFiniteIsWrong) {
  SmokeFacts facts = Good();
  facts.losses[4] = std::nan("");
  EXPECT_EQ(WrongOne(facts).found, "not finite");
}

TEST(SmokeChecksTest, MoreMemoryThanPredictedIsWrongAndLessIsNot) {
  SmokeFacts facts = Good();
  facts.memory_bytes = 43e9;
  EXPECT_THAT(WrongOne(facts).findings[0].why, HasSubstr("6.2 % more"));
  facts.memory_bytes = 30e9;
  for (const SmokeCheck& check : CheckSmoke(facts)) EXPECT_TRUE(check.ok);
}

TEST(SmokeChecksTest, SpeedIsJudgedByThePrediction) {
  SmokeFacts facts = Good();
  facts.tokens_per_second = 11000;
  EXPECT_THAT(WrongOne(facts).found, HasSubstr("-51.5 %"));
  // A small model has a low MFU even at its maximum speed. Therefore a low MFU leads to advice, not
  // to a failed check.
  facts.tokens_per_second = 22000;
  facts.mfu = 0.1;
  const std::vector<SmokeCheck> checks = CheckSmoke(facts);
  EXPECT_TRUE(checks[4].ok);
  EXPECT_FALSE(checks[4].findings.empty());
}

TEST(SmokeChecksTest, CheckpointsMustBeThereAndReadable) {
  SmokeFacts facts = Good();
  facts.checkpoint = SavedState::kAbsent;
  EXPECT_THAT(WrongOne(facts).findings[0].right, HasSubstr("checkpoint.dir"));
  facts.checkpoint = SavedState::kDamaged;
  facts.checkpoint_text = "a.safetensors: block 3 is damaged";
  EXPECT_THAT(WrongOne(facts).findings[0].why, HasSubstr("block 3"));
  facts.checkpoint = SavedState::kNotSeen;
  EXPECT_THAT(CheckSmoke(facts).back().found, HasSubstr("not read back"));
}

TEST(SmokeChecksTest, UnknownFiguresAreNotChecked) {
  SmokeFacts facts = Good();
  facts.predicted_bytes = facts.predicted_tokens_per_second = facts.mfu = 0;
  EXPECT_THAT(NamesOf(CheckSmoke(facts)),
              ElementsAre("steps", "first loss", "loss", "tokens/s", "checkpoint"));
}

}  // namespace
}  // namespace trainyard::planner
