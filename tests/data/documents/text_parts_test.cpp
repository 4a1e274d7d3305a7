#include "data/documents/text_parts.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/text/utf8.h"

namespace trainyard::data {
namespace {

TEST(TextPartsTest, LongTextsAreCutAfterLines) {
  std::string text;
  while (text.size() < 200000) text += "some line of text\n";
  const std::vector<std::string_view> stretches = CutIntoStretches(text);
  EXPECT_GT(stretches.size(), 4u);
  std::string all;
  for (const std::string_view stretch : stretches) {
    EXPECT_EQ(stretch.back(), '\n');
    EXPECT_LE(stretch.size(), size_t{40000});
    all += stretch;
  }
  EXPECT_EQ(all, text);
  EXPECT_EQ(CutIntoStretches("").size(), 1u);
  EXPECT_EQ(CutIntoStretches("short").size(), 1u);
}

TEST(TextPartsTest, ALineThatEndsAtTheLimitEndsTheStretch) {
  constexpr size_t kLimit = size_t{32} << 10;
  const std::string text = std::string(kLimit - 1, 'x') + "\na\n";
  const std::vector<std::string_view> stretches = CutIntoStretches(text);
  ASSERT_EQ(stretches.size(), 2u);
  EXPECT_EQ(stretches[0].size(), kLimit);
  EXPECT_EQ(stretches[1], "a\n");
  EXPECT_EQ(CutIntoStretches(std::string(kLimit - 1, 'x') + "\n").size(), 1u);
}

TEST(TextPartsTest, CutsOnlyWhereAllowed) {
  std::string text;
  while (text.size() < 300000) text += std::string(500, 'x') + "|some\nlines\n";
  TextCuts cuts;
  cuts.find = [](std::string_view all, size_t begin, size_t end) {
    return all.substr(0, end).find('|', begin);
  };
  const std::vector<std::string_view> stretches = CutIntoStretches(text, cuts);
  EXPECT_EQ(stretches.size(), 10u);
  std::string all;
  for (const std::string_view stretch : stretches) {
    EXPECT_TRUE(all.empty() || stretch.front() == '|');
    all += stretch;
  }
  EXPECT_EQ(all, text);
  EXPECT_EQ(CutIntoStretches(std::string(300000, '\n'), cuts).size(), 1u);
}

TEST(TextPartsTest, TextWithoutLinesIsCutBetweenCharacters) {
  std::string text = "x";
  while (text.size() < 300000) text += "\xF0\x9F\x98\x80";
  std::string all;
  for (const std::string_view stretch : CutIntoStretches(text)) {
    EXPECT_FALSE(FirstInvalidUtf8(stretch).has_value());
    EXPECT_LE(stretch.size(), size_t{128} << 10);
    all += stretch;
  }
  EXPECT_EQ(all, text);
}

}  // namespace
}  // namespace trainyard::data
