#include "cli/data/pod_text.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

TEST(PodTextTest, KeepsProseAndDropsTheRest) {
  EXPECT_EQ(
      PodToText("=encoding utf8\n\n"
                "=head1 NAME\n\n"
                "perlfoo - a B<bold>\nclaim\n\n"
                "    verbatim code\n\n\tmore code\n\n"
                "=over 4\n\n=item *\n\nFirst point.\n\n=item 2. Second\n\n=item foo\n\n=back\n\n"
                "=for html <b>no</b>\n\n=begin man\n\nNo.\n\n=end man\n\nLast.\n\n"
                "=cut\n\ncode();\n\n=pod\n\nAgain.\n"),
      "NAME\n\nperlfoo - a bold claim\n\nFirst point.\n\nSecond\n\nfoo\n\nLast.\n\nAgain.\n");
}

TEST(PodTextTest, NothingBeforeTheFirstCommandIsPod) {
  EXPECT_EQ(PodToText("use strict;\n\n=head1 A\n\nB\n"), "A\n\nB\n");
  EXPECT_EQ(PodToText(""), "");
  EXPECT_EQ(PodToText("\n\n \n"), "");
}

std::string Inline(const std::string& text) { return PodToText("=pod\n\n" + text); }

TEST(PodTextTest, FormattingCodesLeaveTheirText) {
  EXPECT_EQ(Inline("I<it> C<code> F<file> S<no break>"), "it code file no break\n");
  EXPECT_EQ(Inline("B<bold I<and C<deep>> end>."), "bold and deep end.\n");
  EXPECT_EQ(Inline("C<< $a <=> $b >> and C<<< x << y >>>"), "$a <=> $b and x << y\n");
  EXPECT_EQ(Inline("a X<index>b Z<>c"), "a b c\n");
  EXPECT_EQ(Inline("1 E<lt> 2 E<gt> E<verbar>E<sol>E<eacute>E<233>E<0xE9>E<0351>"),
            "1 < 2 > |/\xC3\xA9\xC3\xA9\xC3\xA9\n");
  EXPECT_EQ(Inline("$x->{A}<3 and a < b > c"), "$x->{A}<3 and a < b > c\n");
}

TEST(PodTextTest, LinksReadAsProse) {
  EXPECT_EQ(Inline("L<perlop>, L<the B<op> page|perlop/\"x\">"), "perlop, the op page\n");
  EXPECT_EQ(Inline("L<perlop/Quote Operators> L</\"Local\">"),
            "\"Quote Operators\" in perlop \"Local\"\n");
  EXPECT_EQ(Inline("L<https://x.org/a/b>"), "https://x.org/a/b\n");
}

TEST(PodTextTest, SurvivesHostileMarkup) {
  EXPECT_EQ(Inline("C<never closed"), "C<never closed\n");
  EXPECT_EQ(Inline("C<< never closed >"), "C<< never closed >\n");
  EXPECT_EQ(Inline("E<0x110000>E<0xD800>E<nonsense>x"), "x\n");
  std::string nested = "x";
  for (int i = 0; i < 5000; ++i) nested = "B<" + nested + ">";
  EXPECT_NE(Inline(nested).find('x'), std::string::npos);
  EXPECT_EQ(PodToText("=begin a\n\n=begin b\n\nno\n\n=end b\n\nno\n\n=end a\n\n=end a\n\nyes"),
            "yes\n");
}

TEST(PodTextTest, FindsTheEncoding) {
  EXPECT_EQ(PodEncoding("=head1 X\n\n=encoding  Latin-1 \r\n\nx"), "latin-1");
  EXPECT_EQ(PodEncoding("text =encoding utf8"), "");
  EXPECT_EQ(PodEncoding("text =encoding a\n=encoding UTF8\n"), "utf8");
  EXPECT_TRUE(IsLatin1("") && IsLatin1("iso-8859-1"));
  EXPECT_FALSE(IsLatin1("utf8") || IsLatin1("euc-jp"));
  EXPECT_EQ(Latin1ToUtf8("caf\xE9"), "caf\xC3\xA9");
}

}  // namespace
}  // namespace trainyard::cli
