#include "data/filter/line_measures.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/filter/text_scan.h"

namespace trainyard::data {
namespace {

std::vector<uint32_t> NewlinesOf(const std::string& text) {
  WordList words;
  std::vector<uint32_t> newlines;
  ScanText(text, &words, &newlines);
  return newlines;
}

LineForm FormOf(const std::string& text) { return MeasureLineForm(text, NewlinesOf(text), {}); }

DuplicateText DuplicatesOf(const std::string& text) {
  HashNumbering numbering;
  return MeasureDuplicateText(text, NewlinesOf(text), numbering);
}

TEST(LineMeasuresTest, TextAfterTheLastNewlineIsALine) {
  EXPECT_EQ(FormOf("").lines, 0u);
  EXPECT_EQ(FormOf("a\nb").lines, 2u);
  EXPECT_EQ(FormOf("a\nb\n").lines, 2u);
  EXPECT_EQ(FormOf("a\n\n \nb\n").lines, 4u);
  EXPECT_EQ(FormOf("a\n\n \nb\n").text_lines, 2u);
}

TEST(LineMeasuresTest, BulletsFollowWhiteSpace) {
  EXPECT_EQ(FormOf("- a\n \t-b\n\xE2\x80\xA2 c\n\xC2\xA0\xE2\x80\xA2\n* d\ne - f").bullet_lines,
            4u);
}

TEST(LineMeasuresTest, EllipsesPrecedeWhiteSpace) {
  EXPECT_EQ(FormOf("a...\nb\xE2\x80\xA6 \r\nc..\nd. . .\n...\ne... f").ellipsis_lines, 3u);
}

TEST(LineMeasuresTest, PunctuationIsTheLastCharacter) {
  EXPECT_EQ(FormOf("a.\nb!\nc?\nd'\ne\"\nf. \ng,\nh\xE3\x80\x82\n").punctuated_lines, 5u);
}

TEST(LineMeasuresTest, LengthsAreCharacters) {
  std::string accented;
  for (int i = 0; i < 30; ++i) accented += "\xC3\xA9";
  EXPECT_EQ(FormOf(accented).short_lines, 1u);
  EXPECT_EQ(FormOf(accented + "x").short_lines, 0u);
  EXPECT_EQ(FormOf(std::string(199, 'x')).long_lines, 0u);
  EXPECT_EQ(FormOf(std::string(200, 'x')).long_lines, 1u);
}

TEST(LineMeasuresTest, DuplicateLinesIgnoreEmptyLines) {
  const DuplicateText text = DuplicatesOf("caf\xC3\xA9\n\n\nb\n\ncaf\xC3\xA9");
  EXPECT_EQ(text.lines.parts, 3u);
  EXPECT_EQ(text.lines.duplicates, 1u);
  EXPECT_EQ(text.lines.characters, 4u);
  EXPECT_EQ(text.text_line_characters, 4u);
}

TEST(LineMeasuresTest, NewlinesAtBothEndsSeparateEmptyLines) {
  const DuplicateText text = DuplicatesOf("\na\n\n");
  EXPECT_EQ(text.lines.parts, 3u);
  EXPECT_EQ(text.lines.duplicates, 1u);
  EXPECT_EQ(text.lines.characters, 0u);
}

TEST(LineMeasuresTest, BlankLinesAreNotText) {
  const DuplicateText text = DuplicatesOf("a\n  \nb\n  \n");
  EXPECT_EQ(text.lines.characters, 2u);
  EXPECT_EQ(text.text_line_characters, 0u);
}

TEST(LineMeasuresTest, ParagraphsAreSeparatedByTwoNewlines) {
  const DuplicateText text = DuplicatesOf(" \n\na\nb\n\n\n\na\nb\n\nc\n\n ");
  EXPECT_EQ(text.paragraphs.parts, 3u);
  EXPECT_EQ(text.paragraphs.duplicates, 1u);
  EXPECT_EQ(text.paragraphs.characters, 3u);
  EXPECT_EQ(DuplicatesOf("").paragraphs.parts, 1u);
}

}  // namespace
}  // namespace trainyard::data
