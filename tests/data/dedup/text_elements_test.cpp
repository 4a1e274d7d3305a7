#include "data/dedup/text_elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint64_t> Words(std::string_view text) {
  std::string word;
  std::vector<uint64_t> hashes;
  HashWords(text, &word, &hashes);
  return hashes;
}

std::vector<uint64_t> Characters(std::string_view text) {
  std::vector<uint64_t> hashes;
  HashCharacters(text, &hashes);
  return hashes;
}

JoinedWords Joined(std::string_view text) {
  JoinedWords words;
  JoinWords(text, &words);
  return words;
}

// A change of the hashes changes the results of every data set.
TEST(TextElements, HashesOfCharactersStayTheSame) {
  std::string text = "\u00C9\u3000\u65E5";
  for (int byte = 1; byte < 128; ++byte) text += std::string(1, static_cast<char>(byte)) + "x";
  uint64_t sum = 0;
  for (const uint64_t hash : Characters(text)) sum = sum * 1000003 + hash;
  EXPECT_EQ(sum, 4993816708411454358u);
}

TEST(TextElements, WordsIgnoreCaseSpacesAndPunctuation) {
  EXPECT_EQ(Words("The quick, brown fox."), Words(" the\tQUICK\n\nbrown -- (fox)"));
  EXPECT_NE(Words("brown fox"), Words("fox brown"));
  EXPECT_EQ(Words("one two three").size(), 3u);
  EXPECT_THAT(Words(""), IsEmpty());
  EXPECT_THAT(Words(" \n.,!\xE2\x80\xA6"), IsEmpty());  // U+2026
}

TEST(TextElements, EqualWordsHaveEqualHashesAtAnyPosition) {
  const std::vector<uint64_t> hashes = Words("yard train yard");
  ASSERT_EQ(hashes.size(), 3u);
  EXPECT_EQ(hashes[0], hashes[2]);
  EXPECT_NE(hashes[0], hashes[1]);
}

TEST(TextElements, LongWordsAreOneWord) {
  const std::string word(1000, 'a');
  EXPECT_EQ(Words(word).size(), 1u);
  EXPECT_EQ(Words(word), Words(std::string(1000, 'A')));
  EXPECT_NE(Words(word), Words(std::string(1001, 'a')));
  EXPECT_EQ(Words(word + " b").size(), 2u);
}

TEST(TextElements, LettersOutsideOfAsciiBelongToWords) {
  EXPECT_EQ(Words("Stra\xC3\x9F"
                  "e \xC3\xA9t\xC3\xA9")
                .size(),
            2u);
  // U+00A0 and U+2014 separate words.
  EXPECT_EQ(Words("a\xC2\xA0"
                  "b\xE2\x80\x94"
                  "c"),
            Words("a b c"));
  // A word before and after a character that is not ASCII.
  EXPECT_EQ(Words("ab\xC3\xA9"
                  "cd ef")
                .size(),
            2u);
}

TEST(TextElements, EachIdeographIsAWord) {
  EXPECT_EQ(Words("\xE4\xB8\xAD\xE6\x96\x87\xE5\xAD\x97").size(), 3u);
  EXPECT_EQ(Words("a\xE4\xB8\xAD"
                  "b")
                .size(),
            3u);
  EXPECT_EQ(Words("\xED\x95\x9C\xEA\xB5\xAD").size(), 1u);  // Korean separates words by spaces
}

TEST(TextElements, CharactersAreThoseOfSlimPajama) {
  EXPECT_EQ(Characters("  Hello,   World!\n"), Characters("hello world"));
  EXPECT_EQ(Characters("hello world").size(), 11u);
  EXPECT_EQ(Characters("a - b"), Characters("a b"));
  EXPECT_EQ(Characters("\xC3\xA9x").size(), 2u);
  EXPECT_THAT(Characters(" .,; "), IsEmpty());
}

TEST(TextElements, JoinedWordsAreThoseOfPython) {
  const JoinedWords words = Joined("  One\x1Ctwo,\xE3\x80\x80THREE\n");
  EXPECT_EQ(words.text, "one two, three");
  EXPECT_THAT(words.begins, ElementsAre(0, 4, 9, 15));
  EXPECT_EQ(Joined("").text, "");
  EXPECT_THAT(Joined(" \n").begins, IsEmpty());
}

}  // namespace
}  // namespace trainyard::data
