#include "trainer/data/training_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/config/error_of.h"
#include "tests/trainer/data/token_directory.h"

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
  samples.Begin(0, 0, {});
  EXPECT_EQ(samples.PositionsOf(1, 3), "1:3");
}

TEST_F(TrainingSamplesTest, PrefetchStartsAfterTheSamplesOfEarlierSteps) {
  TrainingSamples samples(config_, "", 1);
  EXPECT_EQ(samples.RoundsOf(1), 2);
  samples.Begin(1, 4, {});
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

}  // namespace
}  // namespace trainyard::trainer
