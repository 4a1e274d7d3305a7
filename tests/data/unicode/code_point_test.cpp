#include "data/unicode/code_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace trainyard::data {
namespace {

using testing::ElementsAre;

constexpr char32_t kCodePoints = 0x110000;

TEST(CodePointTest, EachClassHasTheSizeThatUnicode16Gives) {
  std::array<int, 4> counts = {};
  for (char32_t c = 0; c < kCodePoints; ++c) ++counts[static_cast<size_t>(ClassOf(c))];
  EXPECT_THAT(counts, ElementsAre(141028, 1911, 25, 971148));
}

TEST(CodePointTest, SpacesAreThoseOfTheWhiteSpaceProperty) {
  std::vector<char32_t> spaces;
  for (char32_t c = 0; c < kCodePoints; ++c) {
    if (ClassOf(c) == CharClass::kSpace) spaces.push_back(c);
  }
  EXPECT_THAT(spaces, ElementsAre(0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000,
                                  0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008,
                                  0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000));
}

TEST(CodePointTest, ClassesFollowTheGeneralCategory) {
  EXPECT_EQ(ClassOf('_'), CharClass::kOther);
  EXPECT_EQ(ClassOf(0x00AA), CharClass::kLetter);  // feminine ordinal, Lo
  EXPECT_EQ(ClassOf(0x00B2), CharClass::kNumber);  // superscript two, No
  EXPECT_EQ(ClassOf(0x2167), CharClass::kNumber);  // Roman numeral eight, Nl
  EXPECT_EQ(ClassOf(0x0301), CharClass::kOther);   // combining acute accent, Mn
  EXPECT_EQ(ClassOf(0x10940), CharClass::kOther);  // unassigned in 16.0, a letter in 17.0
  EXPECT_EQ(ClassOf(0x1C89), CharClass::kLetter);  // new in 16.0
  EXPECT_EQ(ClassOf(0x10FFFF), CharClass::kOther);
}

TEST(CodePointTest, EachPartOfOtherHasTheSizeThatUnicode16Gives) {
  std::array<int, 3> counts = {};
  for (char32_t c = 0; c < kCodePoints; ++c) {
    if (ClassOf(c) == CharClass::kOther) ++counts[static_cast<size_t>(OtherClassOf(c))];
  }
  // The categories M have 2,501 code points, P 855 and S 8,514.
  EXPECT_THAT(counts, ElementsAre(971148 - 2501 - 9369, 2501, 9369));
}

TEST(CodePointTest, PartsOfOtherFollowTheGeneralCategory) {
  EXPECT_EQ(OtherClassOf('_'), OtherClass::kSymbol);        // Pc
  EXPECT_EQ(OtherClassOf('$'), OtherClass::kSymbol);        // Sc
  EXPECT_EQ(OtherClassOf(0x0301), OtherClass::kMark);       // combining acute accent, Mn
  EXPECT_EQ(OtherClassOf(0x0903), OtherClass::kMark);       // Devanagari sign visarga, Mc
  EXPECT_EQ(OtherClassOf(0xE01EF), OtherClass::kMark);      // the last variation selector
  EXPECT_EQ(OtherClassOf(0x200B), OtherClass::kControl);    // zero width space, Cf
  EXPECT_EQ(OtherClassOf(0x0378), OtherClass::kControl);    // unassigned
  EXPECT_EQ(OtherClassOf(0x10FFFF), OtherClass::kControl);  // a noncharacter
}

TEST(CodePointTest, KanaAndHanHaveTheRangesOfDeepseek) {
  for (const char32_t c : {0x3040, 0x309F, 0x30A0, 0x30FF, 0x4E00, 0x9FA5}) {
    EXPECT_TRUE(IsKanaOrHan(c)) << std::hex << static_cast<uint32_t>(c);
  }
  for (const char32_t c : {0x303F, 0x3100, 0x4DFF, 0x9FA6}) {
    EXPECT_FALSE(IsKanaOrHan(c)) << std::hex << static_cast<uint32_t>(c);
  }
}

TEST(CodePointTest, EveryCodePointSurvivesEncodingAndDecoding) {
  for (char32_t c = 0; c < kCodePoints; ++c) {
    if (c == 0xD800) c = 0xE000;  // surrogates have no UTF-8
    std::string text;
    AppendUtf8(c, &text);
    const DecodedChar decoded = DecodeUtf8(text.data());
    ASSERT_EQ(decoded.code_point, c);
    ASSERT_EQ(decoded.length, text.size());
  }
}

TEST(CodePointTest, EncodesAsUtf8) {
  std::string text;
  for (const char32_t c : {0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xFFFFu, 0x10000u}) AppendUtf8(c, &text);
  EXPECT_EQ(text, "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80");
}

}  // namespace
}  // namespace trainyard::data
