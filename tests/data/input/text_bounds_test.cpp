#include "data/input/text_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

using testing::HasSubstr;

TEST(TextBoundsTest, ABoundaryIsNotWithinACharacter) {
  const std::string text = "a\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x9A\x82z";
  const size_t expected[] = {0, 1, 3, 3, 6, 6, 6, 10, 10, 10, 10, 11, 11};
  for (size_t at = 0; at < std::size(expected); ++at) {
    EXPECT_EQ(CharacterBoundary(text, at), expected[at]) << at;
  }
}

TEST(TextBoundsTest, BytesThatAreNotUtf8AreCutBehindEveryPossibleCharacter) {
  // A character that begins before position 1 ends before position 4.
  EXPECT_EQ(CharacterBoundary("\xF0\x9F\x9A\x82\x80\x80\x80", 1), 4u);
  EXPECT_EQ(CharacterBoundary(std::string(10, '\x80'), 2), 5u);
}

TEST(TextBoundsTest, Utf16IsRefusedAtTheStartOfAFile) {
  const InputFile file = {"/in/a.txt", InputKind::kText, 4, Compression::kNone};
  for (const char* mark : {"\xFF\xFE", "\xFE\xFF"}) {
    RawBlock block;
    block.file = &file;
    block.bytes = std::string(mark) + "a";
    EXPECT_TRUE(RefuseUtf16(block).ok());
    block.begins_file = true;
    const absl::Status status = RefuseUtf16(block);
    EXPECT_TRUE(absl::IsDataLoss(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("/in/a.txt: UTF-16 text; convert"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("iconv -f UTF-16 -t UTF-8"));
  }
}

}  // namespace
}  // namespace trainyard::data
