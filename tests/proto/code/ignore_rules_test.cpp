#include "proto/code/ignore_rules.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::code {
namespace {

using testing::HasSubstr;

IgnoreRules RulesOf(const std::string& text, const std::string& directory = "") {
  IgnoreRules rules;
  EXPECT_TRUE(rules.Append(text, directory, ".gitignore").ok());
  return rules;
}

bool Ignores(const std::string& text, const std::string& path, bool is_directory = false) {
  return RulesOf(text).Decide(path, is_directory).value_or(false);
}

TEST(IgnoreRulesTest, MatchesNamesInAllDirectories) {
  EXPECT_TRUE(Ignores("*.ckpt", "a.ckpt"));
  EXPECT_TRUE(Ignores("*.ckpt", "x/y/a.ckpt"));
  EXPECT_FALSE(Ignores("*.ckpt", "a.ckpt.txt"));
  EXPECT_TRUE(Ignores("a?[b-d]", "x/a1c"));
  EXPECT_FALSE(Ignores("a?[!b-d]", "a1c"));
}

TEST(IgnoreRulesTest, AnchorsPatternsWithASlash) {
  EXPECT_TRUE(Ignores("/data", "data"));
  EXPECT_FALSE(Ignores("/data", "x/data"));
  EXPECT_TRUE(Ignores("x/data", "x/data"));
  EXPECT_FALSE(Ignores("x/data", "y/x/data"));
  EXPECT_TRUE(Ignores("x/*.bin", "x/a.bin"));
  EXPECT_FALSE(Ignores("x/*.bin", "x/y/a.bin"));
}

TEST(IgnoreRulesTest, MatchesOnlyDirectoriesWithATrailingSlash) {
  EXPECT_TRUE(Ignores("data/", "x/data", true));
  EXPECT_FALSE(Ignores("data/", "x/data", false));
}

TEST(IgnoreRulesTest, MatchesAnyNumberOfDirectories) {
  EXPECT_TRUE(Ignores("**/logs", "logs"));
  EXPECT_TRUE(Ignores("**/logs", "a/b/logs"));
  EXPECT_TRUE(Ignores("a/**/b", "a/b"));
  EXPECT_TRUE(Ignores("a/**/b", "a/x/y/b"));
  EXPECT_FALSE(Ignores("a/**/b", "a/x/y/c"));
  EXPECT_TRUE(Ignores("a/**", "a/x"));
  EXPECT_FALSE(Ignores("a/**", "a", true));
  EXPECT_TRUE(Ignores("a/**/b/*/c", "a/b/x/b/y/c"));
  EXPECT_TRUE(Ignores("a/b/c/**/d/e", "a/b/c/x/d/d/e"));
}

TEST(IgnoreRulesTest, LetsTheLastMatchingRuleDecide) {
  EXPECT_FALSE(Ignores("*.bin\n!keep.bin", "keep.bin"));
  EXPECT_TRUE(Ignores("!keep.bin\n*.bin", "keep.bin"));
  EXPECT_EQ(RulesOf("*.bin").Decide("x", false), std::nullopt);
}

TEST(IgnoreRulesTest, SkipsCommentsAndReadsEscapes) {
  EXPECT_FALSE(Ignores("# *.py", "a.py"));
  EXPECT_TRUE(Ignores("\\#x", "#x"));
  EXPECT_TRUE(Ignores("\\!x", "!x"));
  EXPECT_TRUE(Ignores("x  \r\n", "x"));
  EXPECT_TRUE(Ignores("x\\ ", "x "));
  EXPECT_TRUE(Ignores("a\\*b", "a*b"));
  EXPECT_FALSE(Ignores("a\\*b", "axb"));
  EXPECT_TRUE(Ignores("\xEF\xBB\xBFx", "x"));
  EXPECT_TRUE(Ignores("[", "["));
  EXPECT_TRUE(Ignores("[]a]", "]"));
}

TEST(IgnoreRulesTest, AppliesAFileOnlyBelowItsDirectory) {
  const IgnoreRules rules = RulesOf("/x\n*.bin", "sub");
  EXPECT_EQ(rules.Decide("sub/x", false), true);
  EXPECT_EQ(rules.Decide("sub/y/a.bin", false), true);
  EXPECT_EQ(rules.Decide("x", false), std::nullopt);
  EXPECT_EQ(rules.Decide("subway/a.bin", false), std::nullopt);
}

TEST(IgnoreRulesTest, DropsTheRulesOfADirectoryThatTheWalkHasLeft) {
  IgnoreRules rules = RulesOf("*.bin");
  const std::size_t count = rules.size();
  ASSERT_TRUE(rules.Append("*.txt", "sub", "sub/.gitignore").ok());
  rules.Truncate(count);
  EXPECT_EQ(rules.Decide("sub/a.txt", false), std::nullopt);
  EXPECT_EQ(rules.Decide("sub/a.bin", false), true);
}

TEST(IgnoreRulesTest, RefusesTooManyAndTooLongPatterns) {
  IgnoreRules rules;
  std::string text;
  for (std::size_t line = 0; line <= IgnoreRules::kMaxRules; ++line) absl::StrAppend(&text, "a\n");
  EXPECT_THAT(rules.Append(text, "", "sub/.gitignore").message(),
              HasSubstr("more than 2000 patterns (at sub/.gitignore)"));
  IgnoreRules others;
  EXPECT_THAT(others.Append(std::string(2000, 'a'), "", ".gitignore").message(),
              HasSubstr("2000 bytes"));
}

// With a naive recursive match this takes longer than the age of the universe.
TEST(IgnoreRulesTest, MatchesHostilePatternsQuickly) {
  std::string pattern;
  std::string parts;
  std::string path;
  for (int count = 0; count < 100; ++count) {
    absl::StrAppend(&pattern, "*a");
    absl::StrAppend(&parts, "**/a/");
    absl::StrAppend(&path, "a/");
  }
  EXPECT_FALSE(MatchesName(pattern + "b", std::string(1000, 'a')));
  EXPECT_FALSE(Ignores(parts + "b", path + path + "c"));
}

}  // namespace
}  // namespace trainyard::code
