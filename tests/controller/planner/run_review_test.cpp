#include "controller/planner/run_review.h"

#include "gtest/gtest.h"

namespace trainyard::planner {
namespace {

TEST(RunReviewTest, TokensOfALengthInAnyUnit) {
  EXPECT_EQ(TokensOf({.seq_length = 4096, .samples = 10}), 40960);
  EXPECT_EQ(TokensOf({.seq_length = 4096, .global_batch = 2, .steps = 10}), 81920);
  EXPECT_EQ(TokensOf({.seq_length = 4096, .tokens = 5'000'000'000}), 5e9);
  EXPECT_EQ(TokensOf({}), 0);
}

TEST(RunReviewTest, FindsProbableMistakesOfAJob) {
  RunConfig config;
  config.layout.tp = 1;
  config.train.seq_length = 4096;
  config.train.samples = 3662109375;
  config.data.blend = {"0.594 /a", "0.218 /b", "0.158 /c", "0.03 /d"};
  EXPECT_TRUE(ReviewJob(config, false).empty());
  EXPECT_EQ(ReviewJob(config, true).size(), 1u) << "sequence parallelism that is written";
  config.data.blend = {"0.60 /a", "0.22 /b", "0.16 /c", "0.03 /d"};
  ASSERT_EQ(ReviewJob(config, false).size(), 1u);
  EXPECT_EQ(ReviewJob(config, false)[0].why, "the shares sum to 1.01");
  config.data.blend = {"3 /a", "1 /b"};
  EXPECT_TRUE(ReviewJob(config, false).empty()) << "weights in another unit";
  config.train.samples = 15000000000000;
  ASSERT_EQ(ReviewJob(config, false).size(), 1u);
  EXPECT_EQ(ReviewJob(config, false)[0].right, "train.samples 3662109375");
}

TEST(RunReviewTest, FindsAStageAfterTheEndOfTheRun) {
  RunConfig config;
  config.data.blend = {"3 /a", "0 /b"};
  config.data.blend_stages = {"100 a=1 b=1", "101 b=1"};
  EXPECT_TRUE(ReviewJob(config, false).empty()) << "a run of unknown length";
  config.train.steps = 101;
  EXPECT_TRUE(ReviewJob(config, false).empty());
  config.train.steps = 99;
  ASSERT_EQ(ReviewJob(config, false).size(), 1u);
  EXPECT_EQ(ReviewJob(config, false)[0].what, "`data.blend_stages` at step 100");
  EXPECT_EQ(ReviewJob(config, false)[0].why, "the run ends at step 99, before this entry begins");
}

}  // namespace
}  // namespace trainyard::planner
