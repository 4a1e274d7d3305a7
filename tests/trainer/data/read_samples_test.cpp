// Compares the tokens that the ranks of a run read with those that RunSamples names.
#include <gtest/gtest.h>

#include "proto/rules/data_sources.h"
#include "proto/samples/run_samples.h"
#include "proto/samples/window_order.h"
#include "tests/trainer/data/token_directory.h"
#include "trainer/data/skip_setting.h"
#include "trainer/data/training_samples.h"

namespace trainyard::trainer {
namespace {

constexpr int64_t kStepsRead = 12;
constexpr int64_t kSampleTokens = 10;
// Sources with their numbers of tokens. Token i of source s has the value 20000 * s + i.
constexpr int64_t kSourceTokens[] = {1001, 333, 77};

class ReadSamplesTest : public testing::TestWithParam<int64_t> {
 protected:
  ReadSamplesTest() {
    for (size_t source = 0; source < std::size(kSourceTokens); ++source) {
      std::vector<uint16_t> tokens;
      for (int64_t i = 0; i < kSourceTokens[source]; ++i) {
        tokens.push_back(static_cast<uint16_t>(20000 * source + static_cast<size_t>(i)));
      }
      directories_[source].WriteTrain(tokens, 65536);
    }
    config_.data.path = directories_[0].path();
    config_.model.vocab_size = 65536;
    config_.train.seq_length = kSampleTokens;
    config_.train.global_batch = 8;
    config_.train.steps = 2 * kStepsRead;
    config_.layout.dp = GetParam();
    config_.layout.micro_batch = 2;
  }

  void UseBlend() {
    config_.data.path.clear();
    config_.data.blend = {"2 " + directories_[0].path(), "1 " + directories_[1].path(),
                          "1 " + directories_[2].path()};
  }

  void UseStages() {
    UseBlend();
    const std::string name = BlendOf(config_.data).sources[2].name;
    config_.data.blend_stages = {
        "3 " + name + "=1", "9 " + name + "=0.5 " + BlendOf(config_.data).sources[0].name + "=0.5"};
  }

  // Checks the samples of the steps after `start` on each rank.
  void ExpectSame(const SamplesStart& start) const {
    const RunSamples expected(config_, start);
    for (int64_t rank = 0; rank < config_.layout.dp; ++rank) {
      TrainingSamples samples(config_, "", rank);
      samples.Begin(start);
      const std::unique_ptr<Prefetcher> prefetcher = samples.Prefetch();
      for (int64_t step = start.step + 1; step <= start.step + kStepsRead; ++step) {
        ExpectSameStep(expected, step, rank, samples.RoundsOf(step), *prefetcher);
      }
    }
  }

  RunConfig config_;

 private:
  void ExpectSameStep(const RunSamples& expected, int64_t step, int64_t rank, int64_t rounds,
                      Prefetcher& prefetcher) const {
    const int64_t first = expected.At(step, 0).number;
    for (int64_t round = 0; round < rounds; ++round) {
      const TokenBatch batch = prefetcher.Next();
      for (size_t row = 0; row < batch.samples.size(); ++row) {
        const RunSample sample = expected.At(step, batch.samples[row] - first);
        ASSERT_EQ(sample.number, batch.samples[row]);
        ASSERT_EQ(sample.data_index, rank);
        const int64_t windows = WindowsIn(kSourceTokens[sample.place.source], kSampleTokens);
        const Window window = ShuffledWindow(sample.place, config_.data.seed, windows);
        ASSERT_EQ(batch.tokens[row * static_cast<size_t>(batch.row_tokens)],
                  20000 * sample.place.source + window.number * kSampleTokens)
            << "step " << step << ", sample " << sample.number;
      }
    }
  }

  TokenDirectory directories_[std::size(kSourceTokens)];
};

INSTANTIATE_TEST_SUITE_P(Ranks, ReadSamplesTest, testing::Values(1, 2, 4));

TEST_P(ReadSamplesTest, OneDataSet) { ExpectSame({}); }

TEST_P(ReadSamplesTest, RampUp) {
  config_.train.global_batch = 24;
  config_.train.rampup_batch_start = 8;
  config_.train.rampup_batch_increment = 8;
  config_.train.rampup_batch_samples = 60;
  ExpectSame({});
}

TEST_P(ReadSamplesTest, Blend) {
  UseBlend();
  ExpectSame({});
}

TEST_P(ReadSamplesTest, StagesOfABlend) {
  UseStages();
  ExpectSame({});
}

TEST_P(ReadSamplesTest, SkippedSamples) {
  UseStages();
  ExpectSame({.skip = ParseSkipRanges("3:9,40:41")});
}

TEST_P(ReadSamplesTest, AResumedRun) {
  UseStages();
  TrainingSamples first(config_, "", 0);
  first.Begin({});
  const SamplesStart start = {
      .step = 5, .samples = 40, .skip = ParseSkipRanges("3:9"), .spans = first.source().spans()};
  config_.train.global_batch = 16;
  ExpectSame(start);
}

// Without the spans of the checkpoint, an attempt continues with the same samples, because the
// order depends only on the settings.
TEST_P(ReadSamplesTest, AnAttemptContinuesInTheOrderOfTheFirstOne) {
  UseStages();
  const RunSamples whole(config_, {});
  const RunSamples resumed(config_, {.step = 5, .samples = 40});
  for (int64_t step = 6; step < 6 + kStepsRead; ++step) {
    for (int64_t i = 0; i < whole.CountOf(step); ++i) {
      const RunSample a = whole.At(step, i), b = resumed.At(step, i);
      ASSERT_EQ(a.number, b.number);
      ASSERT_EQ(a.place.source, b.place.source);
      ASSERT_EQ(a.place.index, b.place.index);
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
