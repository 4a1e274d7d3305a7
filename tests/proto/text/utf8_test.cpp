#include "proto/text/utf8.h"

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(Utf8Test, FindsTheFirstInvalidByte) {
  EXPECT_FALSE(FirstInvalidUtf8("plain, \xC3\xA9, \xE2\x82\xAC, \xF0\x9F\x9A\x82").has_value());
  EXPECT_EQ(FirstInvalidUtf8("ab\xFF"), 2u);
  EXPECT_EQ(FirstInvalidUtf8("\xC0\xAF"), 0u) << "overlong";
  EXPECT_EQ(FirstInvalidUtf8("a\xED\xA0\x80"), 1u) << "surrogate";
  EXPECT_EQ(FirstInvalidUtf8("a\xE2\x82"), 1u) << "cut off";
  EXPECT_EQ(FirstInvalidUtf8("\xF4\x90\x80\x80"), 0u) << "beyond U+10FFFF";
}

TEST(Utf8Test, ReplacesInvalidSequencesOnly) {
  EXPECT_EQ(ReplaceInvalidUtf8(""), "");
  EXPECT_EQ(ReplaceInvalidUtf8("a\xFF\xC3\xA9z"), "a\xEF\xBF\xBD\xC3\xA9z");
  EXPECT_EQ(ReplaceInvalidUtf8("Zürich €  😀"), "Zürich €  😀");
  EXPECT_EQ(ReplaceInvalidUtf8("\xE2\x82z\x80"), "\xEF\xBF\xBDz\xEF\xBF\xBD") << "cut off, lone";
  // In order: an overlong encoding, a surrogate, a code point beyond Unicode, a truncated sequence,
  // and a lone continuation byte.
  for (const char* bad : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    EXPECT_FALSE(IsUtf8(bad));
    EXPECT_TRUE(IsUtf8(ReplaceInvalidUtf8(bad)));
  }
}

TEST(Utf8Test, CutsBetweenCharacters) {
  EXPECT_EQ(Utf8Prefix("a€b", 3), "a");
  EXPECT_EQ(Utf8Prefix("a€b", 4), "a€");
  EXPECT_EQ(Utf8Prefix("ab", 9), "ab");
  EXPECT_EQ(Utf8Prefix("€", 2), "");
  EXPECT_EQ(LastLines("one\ntwo\n", 5), "two\n");
  EXPECT_EQ(LastLines("one\ntwo", 3), "two");
  EXPECT_EQ(LastLines("a€b", 3), "b");
  EXPECT_EQ(LastLines("a€b", 4), "€b");
  EXPECT_EQ(LastLines("ab", 9), "ab");
}

}  // namespace
}  // namespace trainyard
