#include "proto/code/line_diff.h"

#include <cstdlib>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::code {
namespace {

TEST(LineDiffTest, ShowsChangedLinesWithContext) {
  EXPECT_EQ(*UnifiedDiff("a\nb\nc\nd\ne\n", "a\nb\nx\nd\ne\n"),
            "@@ -1,5 +1,5 @@\n a\n b\n-c\n+x\n d\n e\n");
  EXPECT_EQ(*UnifiedDiff("same\n", "same\n"), "");
  EXPECT_EQ(*UnifiedDiff("", "new\n"), "@@ -0,0 +1 @@\n+new\n");
  EXPECT_EQ(*UnifiedDiff("old\n", ""), "@@ -1 +0,0 @@\n-old\n");
}

TEST(LineDiffTest, ShowsAMissingLineEnd) {
  EXPECT_EQ(*UnifiedDiff("a\nb", "a\nb\n"),
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
}

TEST(LineDiffTest, RefusesBinaryAndVeryDifferentTexts) {
  EXPECT_EQ(UnifiedDiff(absl::string_view("a\0b", 3), "x"), std::nullopt);
  std::string one;
  std::string other;
  for (int line = 0; line <= kMaxEditedLines; ++line) {
    absl::StrAppend(&one, "a", line, "\n");
    absl::StrAppend(&other, "b", line, "\n");
  }
  EXPECT_EQ(UnifiedDiff(one, other), std::nullopt);
}

// The result must turn the old text into the new one. `patch` checks this.
TEST(LineDiffTest, CanBeAppliedAsAPatch) {
  if (std::system("patch --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "the program patch is not installed";
  }
  std::mt19937 random(1);
  for (int trial = 0; trial < 60; ++trial) {
    std::string texts[2];
    for (std::string& text : texts) {
      const auto lines = random() % 40;
      for (unsigned line = 0; line < lines; ++line) absl::StrAppend(&text, random() % 5, "\n");
      if (random() % 4 == 0 && !text.empty()) text.pop_back();
    }
    const TemporaryDirectory directory;
    WriteFile(directory.File("text"), texts[0]);
    const auto diff = UnifiedDiff(texts[0], texts[1]);
    ASSERT_TRUE(diff.has_value());
    if (diff->empty()) continue;
    WriteFile(directory.File("diff"), absl::StrCat("--- text\n+++ text\n", *diff));
    const std::string command =
        absl::StrCat("cd ", directory.path(), " && patch -s --no-backup-if-mismatch -F0 text diff");
    ASSERT_EQ(std::system(command.c_str()), 0) << texts[0] << "--\n" << texts[1] << "--\n" << *diff;
    EXPECT_EQ(ReadFile(directory.File("text")), texts[1]) << *diff;
  }
}

}  // namespace
}  // namespace trainyard::code
