#include "proto/text/printable.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace trainyard {
namespace {

TEST(PrintableTest, NoControlCharacterOfALinePasses) {
  EXPECT_EQ(PrintableLine("a\x1b]0;owned\007b", false), "a\\u001b]0;owned\\u0007b");
  EXPECT_EQ(PrintableLine("\r\n\x7f\x9b", false), "\\u000d\\u000a\\u007f\x9b");
  EXPECT_EQ(PrintableLine("\xc2\x9b\xe2\x80\xae\xd8\x9c", false), "\\u009b\\u202e\\u061c");
  EXPECT_EQ(PrintableLine("tab\tgr\xc3\xbcn \xe2\x82\xac", false), "tab\tgr\xc3\xbcn \xe2\x82\xac");
}

TEST(PrintableTest, ColorsPassOnlyWhenAsked) {
  EXPECT_EQ(PrintableLine("\x1b[31mred\x1b[2J", true), "\x1b[31mred\\u001b[2J");
  EXPECT_EQ(PrintableLine("\x1b[31mred", false), "\\u001b[31mred");
}

TEST(PrintableTest, LabelsKeepLineFeedsForTheFormatToEscape) {
  EXPECT_EQ(PrintableLabel("a\nb\tc\x1b[2J"), "a\nb\\u0009c\\u001b[2J");
  EXPECT_EQ(PrintableLabel("\xffx"), "\xef\xbf\xbdx");
  EXPECT_EQ(PrintableLabel("C:\\dir \"x\""), "C:\\dir \"x\"");
}

TEST(PrintableTest, DifferentLabelsStayDifferent) {
  const std::set<std::string> texts = {"\x1b", "\\u001b", "\\\x1b", "\\u005cu001b", "\\\\u001b"};
  std::set<std::string> labels;
  for (const std::string& text : texts) labels.insert(PrintableLabel(text));
  EXPECT_EQ(labels.size(), texts.size());
}

}  // namespace
}  // namespace trainyard
