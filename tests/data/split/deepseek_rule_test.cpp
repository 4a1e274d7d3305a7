// Expected pieces for each alternative of DeepSeek-V3's rule.
#include <string>

#include "tests/data/split/expect_pieces.h"

namespace trainyard::data {
namespace {

void ExpectDeepseek(const Pieces& pieces) { ExpectPieces(SplitRule::kDeepseek3, pieces); }

TEST(DeepseekRuleTest, EmptyTextHasNoPieces) { ExpectDeepseek({}); }

TEST(DeepseekRuleTest, ASpaceBelongsToTheWordOrSymbolsBehindIt) {
  ExpectDeepseek({"Hello", " world", "!", " (", "a", ")"});
  ExpectDeepseek({"a", "  ", " b"});
  ExpectDeepseek({"a", " \u20AC\u20AC"});
}

TEST(DeepseekRuleTest, OneAsciiSymbolBelongsToTheAsciiLettersBehindIt) {
  ExpectDeepseek({"it", "'sabc", "('", "d", ")"});
  ExpectDeepseek({"www", ".example", ".com", "/index", "_page"});
  ExpectDeepseek({"((", "a"});
  ExpectDeepseek({"(caf", "\u00E9s"});
  ExpectDeepseek({"(a", "\u0301b"});
  ExpectDeepseek({"(", "\u00E9a"});
  ExpectDeepseek({"\u20AC", "a"});
  ExpectDeepseek({"$a", "$", "1"});
  for (char symbol = '!'; symbol <= '~'; ++symbol) {
    if (isalnum(symbol)) continue;
    ExpectDeepseek({"b", std::string(1, symbol) + "az"});
  }
}

TEST(DeepseekRuleTest, MarksBelongToWords) {
  ExpectDeepseek({"e\u0301te\u0301"});
  ExpectDeepseek({" \u0301e"});
  ExpectDeepseek({"(", "\u0301e"});
  ExpectDeepseek({"\u0915\u094D\u0937"});
}

TEST(DeepseekRuleTest, NumbersAreSegmentsOfUpToThree) {
  ExpectDeepseek({"a", "123", "4", "b", "\u0661\u06622", "\u00BD"});
  // White space before a number ends its segment and is one piece.
  ExpectDeepseek({"a", "  ", "1", "  ", " b"});
  ExpectDeepseek({"a", "\n", "  ", "1"});
  ExpectDeepseek({"a", ".\n", "1"});
  ExpectDeepseek({"a", "\x01\x01", "1"});
}

TEST(DeepseekRuleTest, KanaAndHanAreSegments) {
  ExpectDeepseek({"a", "\u4E2D\u6587", "b", "\u304B\u30AB\u9FA5", "1"});
  ExpectDeepseek({"a", "  ", "\u4E2D", "  ", " b"});
  ExpectDeepseek({"(", "\u4E2D"});
  // U+9FA6 is a letter after the range, and U+3005 is one before it.
  ExpectDeepseek({"\u4E2D", "\u9FA6a"});
  ExpectDeepseek({"\u3005a", "\u4E2D"});
  ExpectDeepseek({"\u4E2D", "\u3002\n", "\u4E2D"});
}

TEST(DeepseekRuleTest, SegmentsOfKanaAndHanAreDivided) {
  ExpectDeepseek({"\u30AB", "\u30FB\u30FB", "\u30AB\u30FC"});
  ExpectDeepseek({"\u30AB", "\u30FB", "\n", " b"});
  ExpectDeepseek({"\u30FB", "\n \n", "b"});
  ExpectDeepseek({"\u30AB\u3099", "\u3040\u30AB", "\u3040"});
  ExpectDeepseek({"\u30FB", "(("});
  ExpectDeepseek({"\u30FB", "(a"});
  ExpectDeepseek({" ", "\u30FB"});
}

TEST(DeepseekRuleTest, TheLastControlBelongsToTheWordBehindIt) {
  ExpectDeepseek({"a", "\x01\x02", "\x03z"});
  ExpectDeepseek({"a", "\x7Fz"});
  ExpectDeepseek({"a", "\u200B\uFEFF", "("});
  ExpectDeepseek({"a", "\x01", " b"});
  ExpectDeepseek({"a", " ", "\x01z"});
  ExpectDeepseek({"\x01\x01", "\u4E2D"});
  ExpectDeepseek({"\x01", "\n", "\x01z"});
}

TEST(DeepseekRuleTest, LineEndsFollowSymbolsAndEndWhiteSpace) {
  ExpectDeepseek({"a", ".\n\n", "b"});
  ExpectDeepseek({"a", " {\r\n", " ", " b"});
  ExpectDeepseek({"\r\n \r\n", " ", " b"});
  ExpectDeepseek({"a", "\n", "\t", "\tb"});
  ExpectDeepseek({"a", "\t", "\t", "("});
  ExpectDeepseek({"a", "\n", "  "});
  ExpectDeepseek({"a", "   "});
}

TEST(DeepseekRuleTest, LongRunsAreOnePiece) {
  const std::string letters(1000, 'x');
  const std::string spaces(1000, ' ');
  const std::string dashes(1000, '-');
  const std::string controls(1000, '\x01');
  ExpectDeepseek({letters, spaces, " " + letters, dashes, " " + dashes, controls, "\x01z"});
  ExpectDeepseek({"(" + letters, "\u00E9", spaces + "\n" + spaces + "\n", spaces, "1"});
  ExpectDeepseek({dashes + std::string(1000, '\n'), controls, "1"});
  std::string han;
  for (int i = 0; i < 300; ++i) han += "\u4E2D";
  ExpectDeepseek({han, "\u30FB", han, "a"});
}

}  // namespace
}  // namespace trainyard::data
