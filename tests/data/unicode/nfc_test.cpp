#include "data/unicode/nfc.h"

#include <gtest/gtest.h>

#include "data/unicode/code_point.h"

namespace trainyard::data {
namespace {

std::string Utf8(std::u32string_view code_points) {
  std::string text;
  for (const char32_t code_point : code_points) AppendUtf8(code_point, &text);
  return text;
}

void ExpectNfc(std::u32string_view text, std::u32string_view normalized) {
  EXPECT_EQ(ToNfc(Utf8(text)), Utf8(normalized));
  EXPECT_EQ(IsNfc(Utf8(text)), text == normalized);
  EXPECT_TRUE(IsNfc(Utf8(normalized)));
}

void ExpectUnchanged(std::u32string_view text) { ExpectNfc(text, text); }

TEST(NfcTest, TextWithoutMarksStays) {
  ExpectUnchanged(U"");
  ExpectUnchanged(std::u32string_view(U"a\0b", 3));
  ExpectUnchanged(U"plain text, long enough for eight bytes at a time\n");
  ExpectUnchanged(U"caf\u00E9 \u4E2D\u6587 \U0001F600 \uAC01 \u02FF");
}

TEST(NfcTest, ComposesAMarkWithTheCharacterBeforeIt) {
  ExpectNfc(U"e\u0301", U"\u00E9");
  ExpectNfc(U"some words before e\u0301 and after", U"some words before \u00E9 and after");
  ExpectNfc(U"a\u0302\u0301", U"\u1EA5");
  ExpectUnchanged(U"q\u0301");
  ExpectUnchanged(U"\u0301e");
}

TEST(NfcTest, SortsMarksByCombiningClass) {
  ExpectNfc(U"q\u0301\u0323", U"q\u0323\u0301");
  ExpectUnchanged(U"q\u0323\u0301");
  ExpectUnchanged(U"q\u0301\u0300");  // equal classes keep their order
  ExpectNfc(U"\u0301\u0323", U"\u0323\u0301");
}

TEST(NfcTest, AMarkComposesPastOthersOfLowerClassOnly) {
  ExpectNfc(U"e\u0331\u0301", U"\u00E9\u0331");
  ExpectNfc(U"q\u0323e\u0323\u0302", U"q\u0323\u1EC7");
  ExpectUnchanged(U"e\u0305\u0301");
  ExpectUnchanged(U"e\u034F\u0301");  // U+034F has class 0 and composes with nothing
}

TEST(NfcTest, AMarkReplacesAnotherOneOfAComposedCharacter) {
  ExpectNfc(U"\u00C0\u0323", U"\u1EA0\u0300");
  ExpectNfc(U"\u1F80\u0301", U"\u1F84");
}

TEST(NfcTest, ReplacesCharactersThatHaveOneCanonicalEquivalent) {
  ExpectNfc(U"\u212B\u2126", U"\u00C5\u03A9");
  ExpectNfc(U"\uFA1B\U0002F800", U"\u798F\u4E3D");
  ExpectNfc(U"\u0958", U"\u0915\u093C");  // excluded from composition
  ExpectUnchanged(U"\u0915\u093C");
  ExpectNfc(U"\u0344", U"\u0308\u0301");
}

TEST(NfcTest, ComposesHangulByRule) {
  ExpectNfc(U"\u1100\u1161", U"\uAC00");
  ExpectNfc(U"\u1112\u1175\u11C2", U"\uD7A3");
  ExpectNfc(U"\uAC00\u11A8", U"\uAC01");
  ExpectUnchanged(U"\uAC01\u11A8");
  ExpectUnchanged(U"\uAC00\u11A7");  // U+11A7 is no final consonant
  ExpectUnchanged(U"\u1161\u11A8");
}

TEST(NfcTest, ComposesVowelsOfClassZero) {
  ExpectNfc(U"\u09C7\u09BE", U"\u09CB");
  ExpectUnchanged(U"\u0995\u09BE");
  ExpectNfc(U"\u0CC6\u0CC2\u0CD5", U"\u0CCB");
}

TEST(NfcTest, CharactersNewerThanUnicode9Stay) {
  ExpectUnchanged(U"\U00011935\U00011930");                   // composes since 13.0
  ExpectUnchanged(U"\U000105D2\u0307");                       // composes since 16.0
  ExpectUnchanged(U"q\u0301\u1DF6");                          // class 232 since 10.0
  ExpectUnchanged(U"q\u0301\u08D3");                          // class 220 since 11.0
  ExpectNfc(U"q\u0301\u08D4\u0323", U"q\u0323\u0301\u08D4");  // 9.0
}

TEST(NfcTest, SortsALongRunOfMarksInTime) {
  std::u32string text = U"q";
  std::u32string sorted = U"q";
  constexpr size_t kMarks = 100000;
  for (size_t i = 0; i < kMarks; ++i) text += i % 2 == 0 ? U'\u0301' : U'\u0323';
  sorted.append(kMarks / 2, U'\u0323').append(kMarks / 2, U'\u0301');
  ExpectNfc(text, sorted);
}

// The hash is that of the NFC of tokenizers 0.23.2 (npm) for the same texts.
TEST(NfcTest, EveryCodePointEqualsHuggingFace) {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (c == 0xD800) c = 0xE000;
    const std::u32string text = {U'e', c, 0x323, U' ', 0x315, c, 0x300};
    for (const char byte : ToNfc(Utf8(text))) {
      hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001B3;
    }
  }
  EXPECT_EQ(hash, 0xF00A3AA57FFDC165);
}

}  // namespace
}  // namespace trainyard::data
