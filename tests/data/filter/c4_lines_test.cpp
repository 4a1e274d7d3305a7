#include "data/filter/c4_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::data {
namespace {

std::string Keep(const std::string& text, const C4LineRules& rules = {}) {
  std::string edited = "from an earlier call";
  KeepC4Lines(text, rules, &edited);
  return edited;
}

TEST(C4LinesTest, LinesEndInPunctuation) {
  EXPECT_EQ(
      Keep("It is one.\n  Is it two?\t\nSo it is\nIt is \"three\"\nAnd then...\nGo on now!\r\n"),
      "It is one.\nIs it two?\nIt is \"three\"\nGo on now!");
  EXPECT_EQ(Keep("So it is\nAnd then so...", {.end_punctuation = false}),
            "So it is\nAnd then so...");
}

TEST(C4LinesTest, LinesHaveThreeWords) {
  EXPECT_EQ(Keep("Two words.\nNow three words."), "Now three words.");
  EXPECT_EQ(Keep("Two words.\nOne.", {.min_words = 2}), "Two words.");
}

TEST(C4LinesTest, WordLengthIsLimited) {
  std::string word;
  for (int i = 0; i < 1000; ++i) word += "\xC3\xA9";
  EXPECT_EQ(Keep("It is " + word + "\nIs it."), "");
  EXPECT_EQ(Keep("It is " + word + " ."), "It is " + word + " .");
  EXPECT_EQ(Keep("It is x" + word + " ."), "");
}

TEST(C4LinesTest, LinesAboutScriptsAndPoliciesAreRemoved) {
  EXPECT_EQ(Keep("Please enable JavaScript now.\nThis site uses Cookies today.\n"
                 "Read our Privacy  Policy here.\nAccept the Terms Of Use first."),
            "Read our Privacy  Policy here.");
}

TEST(C4LinesTest, LinesThatDropTheDocumentStay) {
  EXPECT_EQ(Keep("Lorem Ipsum javascript here.\nThe { uses cookies here.\n{ javascript is here."),
            "Lorem Ipsum javascript here.\nThe { uses cookies here.");
}

TEST(C4LinesTest, CitationsAreRemoved) {
  EXPECT_EQ(Keep("One[1] two[] three[edit] [23][citation needed] a[b] [1.\n"),
            "One two three  a[b] [1.");
  EXPECT_EQ(Keep("One two three.[1]"), "One two three.");
  EXPECT_EQ(Keep("One two three. ["), "");
}

TEST(C4LinesTest, EmptyTextsStayEmpty) {
  EXPECT_EQ(Keep(""), "");
  EXPECT_EQ(Keep("\n \n"), "");
}

}  // namespace
}  // namespace trainyard::data
