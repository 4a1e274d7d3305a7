#include "data/documents/pod_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

class PodTextTest : public testing::Test {
 protected:
  std::string Text(const std::string& pod) {
    const absl::StatusOr<std::string> text = texts_.Text(std::to_string(++files_) + ".pod", pod);
    return text.ok() ? *text : text.status().ToString();
  }

  const TextDirectory directory_;
  PodTexts texts_;
  int files_ = 0;
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
  const absl::Status status = texts_.Text("/in/a.pod", "=head1 A\n").status();
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("reads /in/a.pod"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("install the package perl"));
}

// The second file would otherwise continue with the encoding or the lists of the first one.
TEST_F(PodTextTest, FilesOfOneProcessAreIndependent) {
  const std::string latin1 = "=head1 caf\xE9\n\nx\n";
  const std::string utf8 = "=encoding utf8\n\n=over 4\n\n=item caf\xC3\xA9\n\n";
  const std::string first = Text(latin1), second = Text(utf8);
  EXPECT_THAT(second, HasSubstr("caf\xC3\xA9"));
  EXPECT_EQ(Text(latin1), first);
  EXPECT_EQ(Text(utf8), second);
  EXPECT_EQ(Text("no pod\n"), "");
  EXPECT_EQ(Text(latin1), first);
}

TEST_F(PodTextTest, ThreadsConvertAtTheSameTime) {
  std::vector<std::string> found(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const std::string number = std::to_string(i);
      const auto text = texts_.Text(number, "=pod\n\nFile " + number + "\n");
      if (text.ok()) found[i] = *text;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(found[i], "File " + std::to_string(i) + "\n\n");
}

TEST_F(PodTextTest, AProcessThatEndsIsNotUsedAgain) {
  directory_.Write("perl", "#!/bin/sh\nexit 3\n");
  std::filesystem::permissions(directory_ / "perl", std::filesystem::perms::owner_all);
  const std::string path = getenv("PATH");
  setenv("PATH", directory_.path().c_str(), 1);
  const absl::Status status = texts_.Text("/in/a.pod", "=head1 A\n").status();
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/in/a.pod: Perl cannot read this file"));
  EXPECT_EQ(Text("=head1 A\n"), "A\n");
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
