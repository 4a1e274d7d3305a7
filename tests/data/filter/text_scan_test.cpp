#include "data/filter/text_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/filter/white_space.h"
#include "tests/data/filter/generated_documents.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;

std::vector<std::string> WordsOf(const std::string& text) {
  WordList words;
  std::vector<uint32_t> newlines;
  ScanText(text, &words, &newlines);
  std::vector<std::string> result;
  for (const WordSpan& span : words.spans) result.push_back(text.substr(span.begin, span.size));
  return result;
}

TEST(TextScanTest, WhiteSpaceIsThatOfPython) {
  std::vector<char32_t> spaces;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (IsPythonSpace(c)) spaces.push_back(c);
  }
  EXPECT_TRUE(spaces == PythonSpaces());
}

TEST(TextScanTest, EachWhiteSpaceSeparatesWords) {
  for (const char32_t space : PythonSpaces()) {
    const std::string gap = Utf8Of(space);
    EXPECT_THAT(WordsOf(gap + "one" + gap + gap + "two" + gap), ElementsAre("one", "two"))
        << static_cast<uint32_t>(space);
    EXPECT_EQ(Strip(gap + "x" + gap), "x");
    EXPECT_EQ(Strip(gap), "");
  }
}

TEST(TextScanTest, OtherInvisibleCharactersBelongToWords) {
  for (const char32_t c : {0x00u, 0x08u, 0x0Eu, 0x1Bu, 0x7Fu, 0x180Eu, 0x200Bu, 0x2060u, 0xFEFFu}) {
    const std::string word = "a" + Utf8Of(c) + "b";
    EXPECT_THAT(WordsOf(word + " c"), ElementsAre(word, "c")) << static_cast<uint32_t>(c);
  }
}

// The scanner reads 64 bytes at a time.
TEST(TextScanTest, WindowsDoNotCutWords) {
  const std::string long_word(150, 'x');
  for (size_t offset = 0; offset < 140; ++offset) {
    const std::string space(offset, ' ');
    EXPECT_THAT(WordsOf(space + "\xC3\xA9t\xC3\xA9 " + long_word + " .. z"),
                ElementsAre("\xC3\xA9t\xC3\xA9", long_word, "..", "z"));
  }
}

TEST(TextScanTest, CountsCodePoints) {
  // An accented letter, a combining accent, two ideographs, an emoji, a superscript.
  const std::string text =
      "\xC3\xA9 e\xCC\x81 \xE4\xB8\xAD\xE6\x96\x87\n\xF0\x9F\x98\x80 x\xC2\xB2#";
  WordList words;
  std::vector<uint32_t> newlines;
  const TextCounts counts = ScanText(text, &words, &newlines);
  EXPECT_EQ(counts.characters, 13u);
  EXPECT_EQ(counts.letters, 5u);
  EXPECT_EQ(counts.word_characters, 9u);
  EXPECT_EQ(counts.words, 5u);
  EXPECT_EQ(counts.newlines, 1u);
  EXPECT_EQ(counts.hash_signs, 1u);
  EXPECT_TRUE(counts.has_non_ascii);
  EXPECT_EQ(words.with_letters, 4u);
  EXPECT_THAT(words.characters_before, ElementsAre(0, 1, 3, 5, 6, 9));
  EXPECT_THAT(newlines, ElementsAre(13));
}

TEST(TextScanTest, FindsThreeDotsAtEachOffset) {
  for (size_t offset = 0; offset < 140; ++offset) {
    const std::string before(offset, 'x');
    EXPECT_TRUE(CountText(before + "...").has_three_dots) << offset;
    EXPECT_TRUE(CountText(before + "...\xC3\xA9" + before).has_three_dots) << offset;
    EXPECT_FALSE(CountText(before + "..x" + before + "..").has_three_dots) << offset;
    EXPECT_FALSE(CountText(before + ".\xC3\xA9..").has_three_dots) << offset;
  }
}

TEST(TextScanTest, CountTextEqualsScanText) {
  for (uint64_t i = 0; i < 200; ++i) {
    const std::string text = DocumentGenerator(i).Next();
    WordList words;
    std::vector<uint32_t> newlines;
    const TextCounts scanned = ScanText(text, &words, &newlines);
    const TextCounts counted = CountText(text);
    EXPECT_EQ(counted.characters, scanned.characters);
    EXPECT_EQ(counted.letters, scanned.letters);
    EXPECT_EQ(counted.word_characters, scanned.word_characters);
    EXPECT_EQ(counted.words, words.spans.size());
    EXPECT_EQ(counted.newlines, newlines.size());
    EXPECT_EQ(words.characters_before.back(), scanned.word_characters);
  }
}

}  // namespace
}  // namespace trainyard::data
