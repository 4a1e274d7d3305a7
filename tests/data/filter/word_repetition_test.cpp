#include "data/filter/word_repetition.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainyard::data {
namespace {

RepeatedCharacters Measure(const std::string& text) {
  WordList words;
  std::vector<uint32_t> newlines;
  ScanText(text, &words, &newlines);
  return WordRepetition().Measure(text, words);
}

TEST(WordRepetitionTest, TopGramHasSpacesAndItsCount) {
  // "red wagon" three times: 3 * 9.
  EXPECT_EQ(Measure("red wagon of red wagon to red wagon").top[2], 27u);
  EXPECT_EQ(Measure("a b x a b x a b").top[3], 10u);  // "a b x" and "b x a" twice
}

TEST(WordRepetitionTest, FirstOfEquallyFrequentGramsCounts) {
  EXPECT_EQ(Measure("long word x a b y long word a b").top[2], 18u);
  EXPECT_EQ(Measure("a b y long word x a b z long word").top[2], 6u);
}

TEST(WordRepetitionTest, FirstGramCountsIfNoneIsRepeated) {
  const RepeatedCharacters repeated = Measure("one two three four five");
  EXPECT_EQ(repeated.top[2], 7u);
  EXPECT_EQ(repeated.top[3], 13u);
  EXPECT_EQ(repeated.top[4], 18u);
  EXPECT_EQ(repeated.duplicate[5], 0u);
}

TEST(WordRepetitionTest, ShortTextsHaveNoGrams) {
  EXPECT_EQ(Measure("").top[2], 0u);
  EXPECT_EQ(Measure("one").top[2], 0u);
  EXPECT_EQ(Measure("one two").top[3], 0u);
}

TEST(WordRepetitionTest, DuplicateCharactersCountOnce) {
  const std::string five = "aa bb cc dd ee ";
  EXPECT_EQ(Measure(five + five).duplicate[5], 10u);
  EXPECT_EQ(Measure(five + five + five).duplicate[5], 20u);
  EXPECT_EQ(Measure(five + "ff " + five + "ff").duplicate[5], 10u);
  EXPECT_EQ(Measure(five + "ff " + five + "ff").duplicate[6], 12u);
  EXPECT_EQ(Measure("aa bb cc dd x aa bb cc dd y").duplicate[5], 0u);
}

TEST(WordRepetitionTest, OverlappingGramsAreDuplicatesOfEarlierOnes) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "x ";
  // The first 5-gram is new, the second and third ones begin at words 1 and 6.
  EXPECT_EQ(Measure(text).duplicate[5], 10u);
  EXPECT_EQ(Measure(text).top[2], 33u);
}

TEST(WordRepetitionTest, WordsAtTheEndEqualWordsInTheMiddle) {
  // Words near the end are hashed without reading beyond the text.
  EXPECT_EQ(Measure("exactly8 of7char a exactly8 of7char").top[2], 32u);
  EXPECT_EQ(Measure("a b c d a b").top[2], 6u);
}

TEST(WordRepetitionTest, WordsThatDifferOnlyInNulOrLengthDiffer) {
  const std::string nul(1, '\0');
  EXPECT_EQ(Measure("a" + nul + " b y a b z w").top[2], 4u);
  EXPECT_EQ(Measure("abcdefghi x 1 2 abcdefgh x 3").top[2], 11u);
}

}  // namespace
}  // namespace trainyard::data
