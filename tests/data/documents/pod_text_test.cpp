#include "data/documents/pod_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/status/status.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

class PodTextTest : public testing::Test {
 protected:
  std::string Text(const std::string& pod) {
    const absl::StatusOr<std::string> text = PodToText("a.pod", pod);
    return text.ok() ? *text : text.status().ToString();
  }

  const TextDirectory directory_;
};

TEST_F(PodTextTest, MarkupGoesAndParagraphsAreLines) {
  const std::string text = Text(
      "=encoding utf8\n\n=head1 NAME\n\nfoo - a B<bold>\nclaim, caf\xC3\xA9 E<eacute> X<index>\n\n"
      "=begin man\n\nNo.\n\n=end man\n\n=cut\n\ncode();\n\n=pod\n\nLast.\n");
  EXPECT_THAT(text, HasSubstr("NAME\n"));
  EXPECT_THAT(text, HasSubstr("foo - a bold claim, caf\xC3\xA9 \xC3\xA9\n"));
  EXPECT_THAT(text, HasSubstr("Last.\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("No.")));
  EXPECT_THAT(text, testing::Not(HasSubstr("code()")));
}

TEST_F(PodTextTest, WithoutAnEncodingItMayBeLatin1) {
  EXPECT_THAT(Text("=head1 caf\xE9\n\nx\n"), HasSubstr("caf\xC3\xA9\n"));
}

TEST_F(PodTextTest, AFileWithoutPodHasNoText) {
  EXPECT_EQ(Text("use strict;\n"), "");
  EXPECT_EQ(Text(""), "");
}

TEST_F(PodTextTest, ALargeFileIsPassedWhole) {
  std::string pod = "=pod\n\n";
  for (int i = 0; i < 20000; ++i) pod += "Paragraph " + std::to_string(i) + ".\n\n";
  EXPECT_THAT(Text(pod), testing::EndsWith("Paragraph 19999.\n\n"));
}

TEST_F(PodTextTest, AMissingProgramIsNamedWithItsPackage) {
  const std::string path = getenv("PATH");
  setenv("PATH", directory_.path().c_str(), 1);
  const absl::Status status = PodToText("/in/a.pod", "=head1 A\n").status();
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("reads /in/a.pod"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("install the package perl"));
}

TEST_F(PodTextTest, ATextIsMadeOnce) {
  PodTexts texts;
  const absl::StatusOr<std::string> first = texts.Text("a.pod", "=head1 One\n\nx\n");
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::StatusOr<std::string> again = texts.Text("a.pod", "=head1 Other\n");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *first);
}

}  // namespace
}  // namespace trainyard::data
