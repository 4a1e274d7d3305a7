#include "trainer/data/sample_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/trainer/config/error_of.h"
#include "tests/trainer/data/token_directory.h"
#include "trainer/data/skip_setting.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SampleSourceOptions Options(int64_t seq_length, const std::string& skip = "") {
  SampleSourceOptions options;
  options.seq_length = seq_length;
  options.vocab_size = 65536;
  options.seed = 1234;
  options.skip = ParseSkipRanges(skip);
  return options;
}

// Returns the index of the ten-token window that is read for this sample. The directory must be
// from WriteCounting, where token i has the value i.
int64_t WindowOf(const SampleSource& source, int64_t sample) {
  std::vector<int64_t> tokens(11);
  source.Fill(sample, tokens.data());
  return tokens[0] / 10;
}

TEST(SampleSourceTest, EveryWindowOnceInEachDataEpoch) {
  const TokenDirectory directory;
  directory.WriteCounting(1001);
  const TokenFile file(directory.path(), "train");
  const SampleSource source(file, Options(10));
  ASSERT_EQ(source.samples_per_epoch(), 100);
  std::vector<std::vector<int64_t>> orders(2);
  for (int64_t sample = 0; sample < 200; ++sample) {
    std::vector<int64_t> tokens(11);
    source.Fill(sample, tokens.data());
    for (int64_t i = 1; i <= 10; ++i) ASSERT_EQ(tokens[i], tokens[0] + i);
    ASSERT_EQ(tokens[0] % 10, 0);
    orders[sample / 100].push_back(tokens[0] / 10);
  }
  EXPECT_NE(orders[0], orders[1]);
  for (const std::vector<int64_t>& order : orders) {
    EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 100u);
  }
}

TEST(SampleSourceTest, SequentialOrderIsForEvaluation) {
  const TokenDirectory directory;
  directory.WriteCounting(35);
  const TokenFile file(directory.path(), "train");
  SampleSourceOptions options = Options(10);
  options.order = SampleOrder::kSequential;
  const SampleSource source(file, options);
  EXPECT_EQ(source.samples_per_epoch(), 3);
  EXPECT_EQ(WindowOf(source, 0), 0);
  EXPECT_EQ(WindowOf(source, 2), 2);
  EXPECT_EQ(WindowOf(source, 3), 0);
}

TEST(SampleSourceTest, SkipsPositionsAndShiftsWhatFollows) {
  const TokenDirectory directory;
  directory.WriteCounting(1001);
  const TokenFile file(directory.path(), "train");
  const SampleSource all(file, Options(10));
  const SampleSource some(file, Options(10, "3:5,8:9,100:120"));
  std::vector<int64_t> positions;
  for (int64_t sample = 0; sample < 8; ++sample) positions.push_back(some.PositionOf(sample));
  EXPECT_THAT(positions, ElementsAre(0, 1, 2, 5, 6, 7, 9, 10));
  EXPECT_EQ(some.PositionOf(96), 99);
  EXPECT_EQ(some.PositionOf(97), 120);
  for (int64_t sample = 0; sample < 200; ++sample) {
    ASSERT_EQ(WindowOf(some, sample), WindowOf(all, some.PositionOf(sample)));
  }
}

// A rollback adds skip ranges. The samples that were trained before must not change.
TEST(SampleSourceTest, LaterSkipsDoNotMoveEarlierSamples) {
  const TokenDirectory directory;
  directory.WriteCounting(1001);
  const TokenFile file(directory.path(), "train");
  const SampleSource before(file, Options(10, "3:5"));
  const SampleSource after(file, Options(10, "3:5,50:60"));
  for (int64_t sample = 0; sample < 48; ++sample) {
    ASSERT_EQ(WindowOf(before, sample), WindowOf(after, sample));
  }
  EXPECT_EQ(after.PositionOf(48), 60);
}

// Three sources with 1000, 40 and 205 tokens. The first token of a sample shows its source.
class BlendTest : public testing::Test {
 protected:
  BlendTest() {
    const int64_t shares[] = {6, 1, 3}, tokens[] = {1000, 40, 205};
    for (size_t i = 0; i < 3; ++i) {
      std::vector<uint16_t> values;
      for (int64_t k = 0; k < tokens[i]; ++k)
        values.push_back(static_cast<uint16_t>(10000 * i + k));
      directories_[i].WriteTrain(values, 65536);
      sources_.push_back({std::make_shared<TokenFile>(directories_[i].path(), "train"), shares[i]});
    }
  }

  // Returns the first token of each sample in [first, last).
  static std::vector<int64_t> Firsts(const SampleSource& source, int64_t first, int64_t last) {
    std::vector<int64_t> firsts, tokens(source.seq_length() + 1);
    for (int64_t sample = first; sample < last; ++sample) {
      source.Fill(sample, tokens.data());
      firsts.push_back(tokens[0]);
    }
    return firsts;
  }

  TokenDirectory directories_[3];
  std::vector<WeightedTokens> sources_;
};

TEST_F(BlendTest, EachSourceHasItsOwnShuffledEpochs) {
  const SampleSource blend(sources_, Options(4));
  const int64_t windows[] = {249, 9, 51};
  std::vector<std::set<int64_t>> seen(3);
  std::vector<int64_t> taken(3, 0);
  for (const int64_t first : Firsts(blend, 0, 400)) {
    const int64_t source = first / 10000;
    ASSERT_TRUE(seen[source].insert(first).second) << "a window again before the epoch's end";
    if (++taken[source] % windows[source] == 0) seen[source].clear();
  }
  EXPECT_THAT(taken, ElementsAre(240, 40, 120));
  EXPECT_DOUBLE_EQ(blend.PassesBefore(400, 0), 240.0 / 249);
  EXPECT_DOUBLE_EQ(blend.PassesBefore(400, 1), 40.0 / 9);
  EXPECT_DOUBLE_EQ(blend.PassesBefore(400, 2), 120.0 / 51);
}

TEST_F(BlendTest, AnyNumberOfSamplesCanBeSkippedBySeeking) {
  const SampleSource whole(sources_, Options(4, "30:45,100:101"));
  const std::vector<int64_t> all = Firsts(whole, 0, 300);
  for (int64_t start = 0; start < 300; start += 17) {
    const SampleSource resumed(sources_, Options(4, "30:45,100:101"));
    EXPECT_EQ(Firsts(resumed, start, 300), std::vector<int64_t>(all.begin() + start, all.end()));
  }
  const std::vector<int64_t> unskipped = Firsts(SampleSource(sources_, Options(4)), 0, 316);
  EXPECT_EQ(all[30], unskipped[45]);
  EXPECT_EQ(all[299], unskipped[315]);
}

TEST_F(BlendTest, SourcesOfOneSizeAreReadInDifferentOrders) {
  const SampleSource twice({{sources_[0].file, 1}, {sources_[0].file, 1}}, Options(4));
  const std::vector<int64_t> firsts = Firsts(twice, 0, 200);
  int same = 0;
  for (size_t i = 0; i < firsts.size(); i += 2) same += firsts[i] == firsts[i + 1];
  EXPECT_LT(same, 10);
}

TEST_F(BlendTest, PositionsBeforeTheFirstWindowComesAgain) {
  SampleSourceOptions options = Options(4);
  options.order = SampleOrder::kSequential;
  const SampleSource blend(sources_, options);
  const int64_t fresh = blend.positions_before_repeat();
  const std::vector<int64_t> firsts = Firsts(blend, 0, fresh + 1);
  const std::set<int64_t> before(firsts.begin(), firsts.end() - 1);
  EXPECT_EQ(static_cast<int64_t>(before.size()), fresh);
  EXPECT_TRUE(before.contains(firsts.back()));
  EXPECT_EQ(SampleSource(*sources_[2].file, options).positions_before_repeat(), 51);
}

TEST(SampleSourceTest, RefusesTokensOutsideTheVocabulary) {
  const TokenDirectory directory;
  directory.WriteTrain({1, 2, 300, 3, 4}, 256);  // a wrong header
  const TokenFile file(directory.path(), "train");
  SampleSourceOptions options = Options(4);
  options.vocab_size = 256;
  const SampleSource source(file, options);
  std::vector<int64_t> tokens(5);
  const std::string error = ErrorOf([&] { source.Fill(0, tokens.data()); }, ExitCode::kBadData);
  EXPECT_THAT(error, HasSubstr("token id 300"));
  EXPECT_THAT(error, HasSubstr("vocabulary of 256"));
}

TEST(SampleSourceTest, RefusesAModelWithTooSmallAVocabulary) {
  const TokenDirectory directory;
  directory.WriteTrain({1, 2, 3}, 257);
  const TokenFile file(directory.path(), "train");
  SampleSourceOptions options = Options(2);
  options.vocab_size = 256;
  EXPECT_THAT(ErrorOf([&] { SampleSource(file, options); }, ExitCode::kBadConfig),
              HasSubstr("raise model.vocab_size"));
}

TEST(SampleSourceTest, RefusesAFileShorterThanOneSample) {
  const TokenDirectory directory;
  directory.WriteCounting(10);
  const TokenFile file(directory.path(), "train");
  EXPECT_NO_THROW(SampleSource(file, Options(9)));
  EXPECT_THAT(ErrorOf([&] { SampleSource(file, Options(10)); }, ExitCode::kBadData),
              HasSubstr("one sample needs 11"));
}

}  // namespace
}  // namespace trainyard::trainer
