// Expected pieces for each alternative of the rules of GPT-2, LLaMA-3 and Qwen3, and for the
// characters that other tokenizers have got wrong.
#include "data/split/split_rule.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/data/split/expect_pieces.h"

namespace trainyard::data {
namespace {

void ExpectGpt2(const Pieces& pieces) { ExpectPieces(SplitRule::kGpt2, pieces); }
void ExpectLlama3(const Pieces& pieces) { ExpectPieces(SplitRule::kLlama3, pieces); }
void ExpectQwen3(const Pieces& pieces) { ExpectPieces(SplitRule::kQwen3, pieces); }

void ExpectLlama3AndQwen3(const Pieces& pieces) {
  ExpectLlama3(pieces);
  ExpectQwen3(pieces);
}

void ExpectAll(const Pieces& pieces) {
  ExpectGpt2(pieces);
  ExpectLlama3AndQwen3(pieces);
}

TEST(SplitRuleTest, EmptyTextHasNoPieces) { ExpectAll({}); }

TEST(SplitRuleTest, ASpaceBelongsToTheWordBehindIt) {
  ExpectAll({"Hello", " world", "!", " (", "a", ")"});
  ExpectAll({"a", " b"});
  ExpectAll({"a", "  ", " b"});
}

TEST(SplitRuleTest, ContractionsAreLowerCaseInGpt2) {
  ExpectGpt2({"I", "'m", " we", "'re", " you", "'ve", " he", "'ll", " it", "'s", " can", "'t",
              " he", "'d"});
  ExpectGpt2({"x", "'", "S"});
  ExpectGpt2({"x", "'", "RE"});
  ExpectGpt2({"x", "'", "lLy"});
}

TEST(SplitRuleTest, ContractionsHaveAnyCaseInLlama3AndQwen3) {
  ExpectLlama3AndQwen3({"x", "'S", " x", "'t", " x", "'Re", " x", "'vE", " x", "'M", " x", "'LL",
                        " x", "'lL", " x", "'D"});
}

TEST(SplitRuleTest, LongSIsAnSInContractionsOfLlama3AndQwen3) {
  ExpectLlama3AndQwen3({"x", "'\u017F", "ab"});
  ExpectLlama3AndQwen3({"'\u017F"});
  ExpectGpt2({"x", "'", "\u017Fab"});
  // U+212A (Kelvin sign) folds to k, which begins no contraction.
  ExpectLlama3AndQwen3({"x", "'\u212Aab"});
}

TEST(SplitRuleTest, AContractionEndsWithinAWord) {
  ExpectAll({"x", "'s", "ab"});
  ExpectAll({"x", "'re", "d"});
  ExpectAll({"x", "'s", "'s", "'t", "1"});
  ExpectGpt2({"x", "'", "rx"});
  ExpectLlama3AndQwen3({"x", "'rx"});
}

TEST(SplitRuleTest, AnApostropheBehindASpaceOrASymbolBeginsNoContraction) {
  ExpectAll({"x", " '", "s"});
  ExpectAll({"x", "''", "s"});
  ExpectAll({"x", "('", "s"});
  ExpectAll({"x", "\t", "'s"});
  ExpectAll({"x", "\u00A0", "'s"});
  ExpectAll({"'s"});
  ExpectAll({"x", "'"});
}

TEST(SplitRuleTest, NumbersAreGroupedByRule) {
  ExpectGpt2({"a", "1234567", " 12345", "b"});
  ExpectLlama3({"a", "123", "456", "7", " ", "123", "45", "b"});
  ExpectQwen3({"a", "1", "2", "3", "4", " ", "5", "b"});
}

TEST(SplitRuleTest, NumbersOfOtherScriptsCountAsNumbers) {
  ExpectGpt2({"\u0661\u0662\u0663\u0664", "\u4E2D", "\u00BD\u2167"});
  ExpectLlama3({"1\u0662\u00BD", "4", "\u4E2D", "\U0001D7D8\U0001D7D8\U0001D7D8", "\U0001D7D8"});
  ExpectQwen3({"1", "\u0662", "\u00BD", "\U0001D7D8"});
}

TEST(SplitRuleTest, OneCharacterBeforeLettersBelongsToThemInLlama3AndQwen3) {
  ExpectLlama3AndQwen3({"\tb"});
  ExpectLlama3AndQwen3({"\u00A0b"});
  ExpectLlama3AndQwen3({"(b", ")"});
  ExpectLlama3AndQwen3({"a", "_b", ".com"});
  ExpectLlama3AndQwen3({"((", "b"});
  ExpectLlama3AndQwen3({" (", "b"});
  ExpectLlama3AndQwen3({"\U0001F600b", "\U0001F600\U0001F600", "b"});
  ExpectLlama3AndQwen3({"\n", "b"});
  ExpectLlama3AndQwen3({"\r", "b"});
  ExpectGpt2({"\t", "b"});
  ExpectGpt2({"\u00A0", "b"});
  ExpectGpt2({"(", "b", ")"});
}

TEST(SplitRuleTest, LineEndsBehindSymbolsBelongToThemInLlama3AndQwen3) {
  ExpectLlama3AndQwen3({"a", ".\n\n", "b"});
  ExpectLlama3AndQwen3({"a", " {\r\n", " ", " b"});
  ExpectLlama3AndQwen3({"a", ".\n", " \n", "b"});
  ExpectLlama3AndQwen3({"a", ".", " \n", "b"});
  ExpectGpt2({"a", ".", "\n", "\n", "b"});
}

TEST(SplitRuleTest, WhiteSpaceEndsBehindItsLastLineEndInLlama3AndQwen3) {
  ExpectLlama3AndQwen3({"\r\n \r\n", " ", " b"});
  ExpectLlama3AndQwen3({"a", "  \n", "b"});
  ExpectLlama3AndQwen3({"a", "\n\n\n", "   ", " b"});
  ExpectLlama3AndQwen3({"a", "\n", "\t", "\tb"});
  ExpectLlama3AndQwen3({"a", "\n", " ", "1"});
  ExpectLlama3AndQwen3({"a", "\n  \n \t\n"});
  ExpectGpt2({"\r\n \r\n ", " b"});
  ExpectGpt2({"a", "  ", "\n", "b"});
}

TEST(SplitRuleTest, WhiteSpaceAtTheEndIsOnePiece) {
  ExpectAll({"a", "   "});
  ExpectAll({"a", "\n\n"});
  ExpectAll({" "});
  ExpectLlama3AndQwen3({"a", "\n", "  "});
  ExpectGpt2({"a", "\n  "});
}

TEST(SplitRuleTest, WhiteSpaceIsThatOfUnicode) {
  // U+0085, U+00A0 and U+3000 are white space.
  for (const std::string space : {"\u0085", "\u00A0", "\u3000"}) {
    ExpectGpt2({"a", space, "b"});
    ExpectGpt2({"a", space + space, space, "b"});
    ExpectLlama3AndQwen3({"a", space + space, space + "b"});
    ExpectAll({"a", space, "("});
  }
  // U+180E, U+200B and U+FEFF are not.
  for (const std::string other : {"\u180E", "\u200B", "\uFEFF"}) {
    ExpectGpt2({"a", " " + other + other, "b"});
    ExpectLlama3AndQwen3({"a", " " + other + other, "b"});
    ExpectLlama3AndQwen3({"a", other + "b"});
  }
}

TEST(SplitRuleTest, ACombiningMarkIsNoLetter) {
  ExpectGpt2({"e", "\u0301", "te"});
  ExpectLlama3AndQwen3({"e", "\u0301te"});
  ExpectAll({"\u00E9te"});
}

TEST(SplitRuleTest, LongRunsAreOnePiece) {
  const std::string letters(1000, 'x');
  const std::string spaces(1000, ' ');
  const std::string dashes(1000, '-');
  ExpectAll({letters, spaces, " " + letters, dashes, " " + dashes});
  ExpectLlama3AndQwen3({letters, spaces + "\n" + spaces + "\n", spaces, " b"});
  ExpectLlama3AndQwen3({dashes + std::string(1000, '\n'), "b"});
}

}  // namespace
}  // namespace trainyard::data
