#include "controller/store/logs/log_segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LogSegmentTest, EncodingKeepsEverything) {
  LogSegment segment{.begin = 1000, .bytes = std::string("a\0b\nc", 5)};
  segment.marks = {{1000, 1'700'000'000'000}, {1003, 1'700'000'000'500}};
  segment.splits = {1001, 1004};
  auto decoded = DecodeLogSegment(EncodeLogSegment(segment, 7), 1000, 7);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->bytes, segment.bytes);
  EXPECT_EQ(decoded->marks, segment.marks);
  EXPECT_EQ(decoded->splits, segment.splits);
  EXPECT_EQ(DecodeLogSegment(EncodeLogSegment(segment, 7), 1000, 8).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(LogSegmentTest, SliceAndAppendAreInverse) {
  LogSegment whole{.begin = 10, .bytes = "0123456789"};
  whole.marks = {{10, 100}, {13, 200}, {17, 300}};
  whole.splits = {12, 15};
  for (int64_t cut = 10; cut <= 20; ++cut) {
    LogSegment joined = whole.Slice(10, cut);
    if (cut == 10) joined = LogSegment{.begin = 10};
    if (cut < 20) joined.Append(whole.Slice(cut, 20));
    EXPECT_EQ(joined.bytes, whole.bytes);
    EXPECT_EQ(joined.marks, whole.marks) << cut;
    EXPECT_EQ(joined.splits, whole.splits) << cut;
  }
  EXPECT_EQ(whole.TimeAt(10), 100);
  EXPECT_EQ(whole.TimeAt(16), 200);
  EXPECT_EQ(whole.TimeAt(19), 300);
}

TEST(LineSplitterTest, SplitsOnlyLinesBeyondTheLimit) {
  const std::string limit(kLineBytesMax, 'x');
  EXPECT_THAT(LineSplitter(0).Add(0, absl::StrCat(limit, "\n", limit, "\n")), IsEmpty());
  EXPECT_THAT(LineSplitter(0).Add(0, limit), IsEmpty());
  EXPECT_THAT(LineSplitter(0).Add(0, absl::StrCat(limit, "y\nz")), ElementsAre(kLineBytesMax));
  EXPECT_THAT(LineSplitter(0).Add(0, absl::StrCat(limit, limit, "y")),
              ElementsAre(kLineBytesMax, 2 * kLineBytesMax));
}

TEST(LineSplitterTest, DoesNotSplitWithinACharacter) {
  const std::string before(kLineBytesMax - 1, 'x');
  EXPECT_THAT(LineSplitter(0).Add(0, absl::StrCat(before, "\u20ac", "yy")),
              ElementsAre(kLineBytesMax + 2));
  const std::string no_characters(2 * kLineBytesMax, '\x80');
  EXPECT_THAT(LineSplitter(0).Add(0, no_characters), ElementsAre(kLineBytesMax + 3));
}

TEST(LineSplitterTest, SplitsDoNotDependOnHowBytesArrive) {
  std::mt19937 random(5);
  std::string text;
  while (text.size() < 600'000) {
    text.append(random() % 200'000, "ab\x80\xbf\xe2"[random() % 5]);
    if (random() % 2 == 0) text.push_back('\n');
  }
  LineSplitter whole(0);
  const std::vector<int64_t> expected = whole.Add(0, text);
  EXPECT_GT(expected.size(), 3u);
  LineSplitter pieces(0);
  std::vector<int64_t> splits;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t size =
        std::min<std::size_t>(random() % 3 == 0 ? 1 : random() % 9000 + 1, text.size() - begin);
    const auto more = pieces.Add(static_cast<int64_t>(begin), text.substr(begin, size));
    splits.insert(splits.end(), more.begin(), more.end());
    begin += size;
  }
  EXPECT_EQ(splits, expected);
  EXPECT_EQ(pieces.line_begin(), whole.line_begin());
}

}  // namespace
}  // namespace trainyard::controller
