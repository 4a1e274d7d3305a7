#include "data/documents/pod_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "absl/status/status.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

class PodTextTest : public testing::Test {
 protected:
  std::string Text(const std::string& pod) {
    directory_.Write("a.pod", pod);
    const absl::StatusOr<std::string> text = PodToText(directory_ / "a.pod");
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

TEST_F(PodTextTest, AMissingFileIsNamed) {
  const absl::Status status = PodToText(directory_ / "none.pod").status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("none.pod: pod2text cannot read this file"));
}

TEST_F(PodTextTest, AMissingProgramIsNamedWithItsPackage) {
  const std::string path = getenv("PATH");
  setenv("PATH", directory_.path().c_str(), 1);
  const absl::Status status = PodToText(directory_ / "a.pod").status();
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("install the package perl"));
}

TEST_F(PodTextTest, ATextIsMadeOnce) {
  PodTexts texts;
  directory_.Write("a.pod", "=head1 One\n\nx\n");
  const absl::StatusOr<std::string> first = texts.Text(directory_ / "a.pod");
  ASSERT_TRUE(first.ok()) << first.status();
  std::filesystem::remove(directory_ / "a.pod");
  const absl::StatusOr<std::string> again = texts.Text(directory_ / "a.pod");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *first);
}

}  // namespace
}  // namespace trainyard::data
