#include "proto/text/duration_text.h"

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(DurationTextTest, SentencesHaveOneUnit) {
  EXPECT_EQ(DurationText(850), "850 ms");
  EXPECT_EQ(DurationText(3200), "3.2 s");
  EXPECT_EQ(DurationText(8000), "8 s");
  EXPECT_EQ(DurationText(45400), "45 s");
  EXPECT_EQ(DurationText(300000), "5 min");
  EXPECT_EQ(DurationText(86400000), "24 h");
}

TEST(DurationTextTest, SentencesChangeTheirUnitAtTheBoundary) {
  EXPECT_EQ(DurationText(999), "999 ms");
  EXPECT_EQ(DurationText(1000), "1 s");
  EXPECT_EQ(DurationText(9900), "9.9 s");
  EXPECT_EQ(DurationText(10'500), "10 s");
  EXPECT_EQ(DurationText(119'999), "119 s");
  EXPECT_EQ(DurationText(120'000), "2 min");
  EXPECT_EQ(DurationText(7'199'999), "119 min");
  EXPECT_EQ(DurationText(7'200'000), "2 h");
}

TEST(DurationTextTest, ShortDurationsHaveTwoUnits) {
  EXPECT_EQ(ShortDuration(-5), "0s");
  EXPECT_EQ(ShortDuration(59999), "59s");
  EXPECT_EQ(ShortDuration(60000), "1m00s");
  EXPECT_EQ(ShortDuration(3599000), "59m59s");
  EXPECT_EQ(ShortDuration(7500000), "2h05m");
  EXPECT_EQ(ShortDuration(273600000), "3d04h");
}

}  // namespace
}  // namespace trainyard
