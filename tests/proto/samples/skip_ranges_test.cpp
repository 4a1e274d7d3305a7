#include "proto/samples/skip_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<SkipRange> Ranges(const std::string& text) {
  const SkipRanges read = ReadSkipRanges(text);
  EXPECT_EQ(read.problem, "");
  return read.ranges;
}

TEST(ReadSkipRangesTest, SortsAndMerges) {
  const std::vector<SkipRange> ranges = Ranges("30:40,1:5,5:7,35:50");
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].begin, 1);
  EXPECT_EQ(ranges[0].end, 7);
  EXPECT_EQ(ranges[1].begin, 30);
  EXPECT_EQ(ranges[1].end, 50);
  EXPECT_TRUE(Ranges("").empty());
}

TEST(ReadSkipRangesTest, RefusesAnEndThatPositionsCannotReach) {
  EXPECT_THAT(ReadSkipRanges("0:9223372036854775807").problem, HasSubstr("ends after"));
  EXPECT_EQ(Ranges("0:9007199254740992")[0].end, int64_t{1} << 53);
}

TEST(ReadSkipRangesTest, RefusesWhatIsNotAList) {
  for (const char* text : {"5", "5:", ":5", "5:5", "6:5", "-1:4", "1:2,", ",1:2", "1:2 ,3:4", "a:b",
                           "1:99999999999999999999"}) {
    EXPECT_NE(ReadSkipRanges(text).problem, "") << text;
    EXPECT_TRUE(ReadSkipRanges(text).ranges.empty()) << text;
  }
}

TEST(SkipRangesTest, TextIsReadBack) {
  EXPECT_EQ(SkipRangesToText(Ranges("30:40,1:7")), "1:7,30:40");
  EXPECT_EQ(SkipRangesToText({}), "");
}

// Adds `more` to the list `skip` after the first `samples` samples. Returns the text of the
// resulting list.
std::string Added(const std::string& skip, const std::string& more, int64_t samples) {
  return SkipRangesToText(WithRangesAhead(Ranges(skip), Ranges(more), samples));
}

TEST(SkipRangesTest, RangesAheadAreAdded) {
  EXPECT_EQ(Added("", "10:20", 10), "10:20");
  EXPECT_EQ(Added("3:5", "50:60", 40), "3:5,50:60");
  EXPECT_EQ(Added("50:60", "55:70", 0), "50:70");
  EXPECT_EQ(Added("3:5", "", 40), "3:5");
  EXPECT_EQ(Added("3:5,50:60", "3:5,50:60", 40), "3:5,50:60");
}

TEST(SkipRangesTest, WhatLiesBehindTheSamplesUsedIsLeftOut) {
  EXPECT_EQ(Added("", "0:10", 10), "");
  EXPECT_EQ(Added("", "5:12", 10), "10:12");
  EXPECT_EQ(Added("3:5", "0:13", 10), "3:5,12:13");  // 10 samples took positions 0 to 11
}

// Ranges may be added after any number of samples. From the position reached on, the next sample
// must then be at the first position that is in neither list.
TEST(SkipRangesTest, AddedRangesNeverMoveThePlaceReached) {
  const std::vector<SkipRange> skip = Ranges("3:5,8:9,20:30");
  const std::vector<SkipRange> more = Ranges("0:2,4:10,15:22,40:45");
  const auto holds = [](const std::vector<SkipRange>& ranges, int64_t position) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const SkipRange& range) {
      return range.begin <= position && position < range.end;
    });
  };
  for (int64_t samples = 0; samples < 60; ++samples) {
    const std::vector<SkipRange> both = WithRangesAhead(skip, more, samples);
    for (int64_t sample = 0; sample < samples; ++sample) {
      ASSERT_EQ(PositionOf(sample, both), PositionOf(sample, skip));
    }
    int64_t position = PositionOf(samples, skip);
    for (int64_t sample = samples; sample < samples + 40; ++sample, ++position) {
      while (holds(skip, position) || holds(more, position)) ++position;
      ASSERT_EQ(PositionOf(sample, both), position) << samples << " " << sample;
    }
  }
}

TEST(SkipRangesTest, FindsRangesThatTheOthersDoNotHold) {
  const std::vector<SkipRange> ranges = Ranges("3:5,20:30");
  EXPECT_THAT(RangesOutside(ranges, Ranges("0:10,25:40")), ElementsAre(SkipRange{20, 30}));
  EXPECT_TRUE(RangesOutside(ranges, ranges).empty());
  EXPECT_EQ(RangesOutside(ranges, {}), ranges);
}

}  // namespace
}  // namespace trainyard
