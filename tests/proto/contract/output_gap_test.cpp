#include "proto/contract/output_gap.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(OutputGapTest, HasAsManyBytesAsWereDropped) {
  for (const int64_t bytes : {0, 1, 2, 3, 50, 100, 59'999, 60'000, 60'001, 60'002, 262'144}) {
    const std::string filled = FillGap(bytes);
    ASSERT_EQ(static_cast<int64_t>(filled.size()), bytes);
    // The marker ends the incomplete line before it.
    // The output after the marker begins a new line.
    if (bytes > 0) {
      EXPECT_EQ(filled.front(), '\n');
      EXPECT_EQ(filled.back(), '\n');
    }
  }
}

TEST(OutputGapTest, SaysWhatIsMissing) {
  const std::string filled = FillGap(262'144);
  EXPECT_EQ(std::count(filled.begin(), filled.end(), '\n'), 6);
  const std::string line = filled.substr(1, filled.find('\n', 1) - 1);
  EXPECT_EQ(WithoutGapPadding(line),
            "[trainyard] output dropped here: 60000 bytes; the node's disk had no space for them");
}

TEST(OutputGapTest, GapsOfOlderWorkersLoseTheirPaddingToo) {
  EXPECT_EQ(WithoutGapPadding("[trainyard] output given up here: 9 bytes; no room   "),
            "[trainyard] output given up here: 9 bytes; no room");
}

TEST(OutputGapTest, OtherLinesKeepTheirBlanks) {
  EXPECT_EQ(WithoutGapPadding("step 1  "), "step 1  ");
  EXPECT_EQ(WithoutGapPadding(""), "");
}

}  // namespace
}  // namespace trainyard
