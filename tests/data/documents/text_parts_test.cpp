#include "data/documents/text_parts.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/text/utf8.h"

namespace trainyard::data {
namespace {

// Checks that the stretches make up the text, and returns them without the last one.
std::vector<std::string_view> StretchesOf(const std::string& text) {
  std::vector<std::string_view> stretches = CutIntoStretches(text);
  std::string all;
  for (const std::string_view stretch : stretches) all += stretch;
  EXPECT_EQ(all, text);
  stretches.pop_back();
  return stretches;
}

TEST(TextPartsTest, LongTextsAreCutBetweenLetterAndLineEnd) {
  std::string text;
  while (text.size() < 200000) text += "a sentence.\n\nsome line of text\n1\n";
  const std::vector<std::string_view> stretches = StretchesOf(text);
  EXPECT_GT(stretches.size(), 4u);
  for (const std::string_view stretch : stretches) {
    EXPECT_TRUE(stretch.ends_with("text"));
    EXPECT_GE(stretch.size(), size_t{32768});
    EXPECT_LE(stretch.size(), size_t{33000});
  }
}

TEST(TextPartsTest, TextWithoutLettersIsCutAfterLines) {
  std::string text;
  while (text.size() < 400000) text += "1, 2, 3.\n";
  const std::vector<std::string_view> stretches = StretchesOf(text);
  EXPECT_GT(stretches.size(), 4u);
  for (const std::string_view stretch : stretches) EXPECT_EQ(stretch.back(), '\n');
}

TEST(TextPartsTest, ShortTextsAreOneStretch) {
  EXPECT_EQ(CutIntoStretches("").size(), 1u);
  EXPECT_EQ(CutIntoStretches("short\ntext\n").size(), 1u);
}

TEST(TextPartsTest, TextWithoutLinesIsCutBetweenCharacters) {
  std::string text = "x";
  while (text.size() < 300000) text += "\xF0\x9F\x98\x80";
  std::string all;
  for (const std::string_view stretch : CutIntoStretches(text)) {
    EXPECT_FALSE(FirstInvalidUtf8(stretch).has_value());
    all += stretch;
  }
  EXPECT_EQ(all, text);
}

}  // namespace
}  // namespace trainyard::data
