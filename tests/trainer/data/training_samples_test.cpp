#include "trainer/data/training_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/rules/data_sources.h"
#include "tests/trainer/config/error_of.h"
#include "tests/trainer/data/token_directory.h"
#include "trainer/data/skip_setting.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Creates samples as the second of two data-parallel ranks. The global batch has four samples.
class TrainingSamplesTest : public testing::Test {
 protected:
  TrainingSamplesTest() {
    directory_.WriteCounting(1001);
    config_.data.path = directory_.path();
    config_.model.vocab_size = 65536;
    config_.train.seq_length = 10;
    config_.train.global_batch = 4;
    config_.train.steps = 10;
    config_.layout.dp = 2;
  }

  const TokenDirectory directory_;
  RunConfig config_;
};

TEST_F(TrainingSamplesTest, PositionsIncludeSkippedSamples) {
  TrainingSamples samples(config_, "2:4", 1);
  EXPECT_EQ(samples.PositionsOf(0, 2), "0:2");
  EXPECT_EQ(samples.PositionsOf(1, 3), "1:5");
  samples.Begin({});
  EXPECT_EQ(samples.PositionsOf(1, 3), "1:3");
}

TEST_F(TrainingSamplesTest, PrefetchStartsAfterTheSamplesOfEarlierSteps) {
  TrainingSamples samples(config_, "", 1);
  EXPECT_EQ(samples.RoundsOf(1), 2);
  samples.Begin({.step = 1, .samples = 4, .skip = {}});
  const std::unique_ptr<Prefetcher> prefetcher = samples.Prefetch();
  EXPECT_THAT(prefetcher->Next().samples, ElementsAre(6));
  EXPECT_THAT(prefetcher->Next().samples, ElementsAre(7));
}

// The first windows of the order need not contain the bad id, which would then end a run after
// hours.
TEST_F(TrainingSamplesTest, AnIdAboveTheVocabularyIsFoundAtTheStart) {
  config_.model.vocab_size = 1001;
  directory_.WriteText("train.json", TokenDirectory::Header(1001, 1001).dump());
  TrainingSamples(config_, "", 1);
  for (const int64_t vocab_size : {1000, 995}) {
    config_.model.vocab_size = vocab_size;
    directory_.WriteText("train.json", TokenDirectory::Header(1001, vocab_size).dump());
    const std::string error = ErrorOf([&] { TrainingSamples(config_, "", 1); }, ExitCode::kBadData);
    EXPECT_THAT(error, HasSubstr("token id 1000 among tokens 990 to 1000 is outside"));
  }
}

// Reads two sources with 1001 tokens each. The blend is changed from step 3 on.
class StagedSamplesTest : public TrainingSamplesTest {
 protected:
  StagedSamplesTest() {
    std::vector<uint16_t> tokens;
    for (uint16_t i = 0; i < 1001; ++i) tokens.push_back(30000 + i);
    other_.WriteTrain(tokens, 65536);
    config_.data.path.clear();
    config_.data.blend = {"1 " + directory_.path(), "1 " + other_.path()};
    const std::string name = BlendOf(config_.data).sources[1].name;
    config_.data.blend[1] = "0 " + other_.path();
    config_.data.blend_stages = {"3 " + name + "=1"};
  }

  // Returns the first token of each sample in [first, last).
  static std::vector<int64_t> Firsts(const TrainingSamples& samples, int64_t first, int64_t last) {
    std::vector<int64_t> firsts, tokens(11);
    for (int64_t sample = first; sample < last; ++sample) {
      samples.source().Fill(sample, tokens.data());
      firsts.push_back(tokens[0]);
    }
    return firsts;
  }

  const TokenDirectory other_;
};

TEST_F(StagedSamplesTest, TheBlendChangesAtTheStep) {
  TrainingSamples samples(config_, "", 0);
  samples.Begin({});
  const std::vector<int64_t> firsts = Firsts(samples, 0, 40);
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(firsts[i] >= 30000, i >= 8) << i;
  EXPECT_EQ(samples.source().CountBefore(40, 0), 8);
  EXPECT_DOUBLE_EQ(samples.source().PassesBefore(40, 1), 0.32);
}

// The loss guard finds samples by their positions. A skip before a stage must not move the samples
// that it skips in the stage.
TEST_F(StagedSamplesTest, SkippedPositionsDoNotChangeTheSamplesAtOtherPositions) {
  TrainingSamples all(config_, "", 0), some(config_, "", 0);
  all.Begin({});
  some.Begin({.skip = ParseSkipRanges("2:4,7:10")});
  const std::vector<int64_t> firsts = Firsts(all, 0, 40), skipping = Firsts(some, 0, 35);
  for (int64_t sample = 0; sample < 35; ++sample) {
    EXPECT_EQ(skipping[sample], firsts[some.source().PositionOf(sample)]) << sample;
  }
}

TEST_F(StagedSamplesTest, AResumedRunKeepsTheSpansOfItsCheckpoint) {
  TrainingSamples first(config_, "", 0);
  first.Begin({});
  config_.train.global_batch = 8;
  const std::vector<SkipRange> skip = ParseSkipRanges("2:4");
  TrainingSamples resumed(config_, "", 0);
  resumed.Begin({.step = 4, .samples = 16, .skip = skip, .spans = first.source().spans()});
  first.Begin({.skip = skip});
  EXPECT_EQ(Firsts(resumed, 16, 40), Firsts(first, 16, 40));
}

}  // namespace
}  // namespace trainyard::trainer
