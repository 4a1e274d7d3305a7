#include "proto/samples/run_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using testing::ElementsAre;

RunConfig ConfigOf(int64_t global_batch, int64_t dp) {
  RunConfig config;
  config.data.path = "/data/c4";
  config.train.global_batch = global_batch;
  config.layout.micro_batch = 1;
  config.layout.dp = dp;
  return config;
}

std::vector<int64_t> PositionsOf(const RunSamples& samples, int64_t step) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < samples.CountOf(step); ++i) {
    positions.push_back(samples.At(step, i).position);
  }
  return positions;
}

TEST(RunSamplesTest, ConsecutiveSamplesBelongToTheSameRanks) {
  const RunSamples samples(ConfigOf(6, 3), {});
  std::vector<int64_t> numbers, ranks;
  for (int64_t i = 0; i < 6; ++i) {
    numbers.push_back(samples.At(2, i).number);
    ranks.push_back(samples.At(2, i).data_index);
  }
  EXPECT_THAT(numbers, ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_THAT(ranks, ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST(RunSamplesTest, ABatchGrowsDuringTheRampUp) {
  RunConfig config = ConfigOf(6, 1);
  config.train.rampup_batch_start = 2;
  config.train.rampup_batch_increment = 2;
  config.train.rampup_batch_samples = 8;
  const RunSamples samples(config, {});
  EXPECT_EQ(samples.CountOf(1), 2);
  EXPECT_EQ(samples.CountOf(3), 4);
  EXPECT_EQ(samples.CountOf(9), 6);
  int64_t next = 0;
  for (int64_t step = 1; step < 20; ++step) {
    ASSERT_EQ(samples.At(step, 0).number, next);
    next += samples.CountOf(step);
  }
}

TEST(RunSamplesTest, SkippedPositionsAreLeftOut) {
  EXPECT_THAT(PositionsOf(RunSamples(ConfigOf(4, 1), {.skip = {{2, 4}, {7, 9}}}), 2),
              ElementsAre(6, 9, 10, 11));
}

// A run with another batch size continues with the next sample.
TEST(RunSamplesTest, AResumedRunContinuesAfterTheSamplesOfItsStart) {
  const SamplesStart start = {.step = 3, .samples = 30, .skip = {{2, 4}}, .spans = {}};
  EXPECT_THAT(PositionsOf(RunSamples(ConfigOf(4, 1), start), 5), ElementsAre(36, 37, 38, 39));
}

TEST(RunSamplesTest, StagesOfABlendBeginAtTheirSteps) {
  RunConfig config = ConfigOf(4, 1);
  config.data.path.clear();
  config.data.blend = {"1 /data/a", "0 /data/b"};
  config.data.blend_stages = {"3 b=1"};
  const RunSamples samples(config, {});
  EXPECT_EQ(samples.At(2, 3).place.source, 0);
  EXPECT_EQ(samples.At(2, 3).place.index, 7);
  EXPECT_EQ(samples.At(3, 0).place.source, 1);
  EXPECT_EQ(samples.At(3, 0).place.index, 0);
}

}  // namespace
}  // namespace trainyard
