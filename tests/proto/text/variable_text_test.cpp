#include "proto/text/variable_text.h"

#include <gtest/gtest.h>

#include <map>

namespace trainyard {
namespace {

ExpandedText Expand(std::string_view text) {
  static const std::map<std::string, std::string, std::less<>> kVariables = {
      {"HOME", "/home/ada"}, {"EMPTY", ""}, {"NESTED", "${HOME}"}, {"_a1", "x"}};
  return ExpandVariables(text, [](std::string_view name) -> std::optional<std::string> {
    const auto found = kVariables.find(name);
    return found == kVariables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(VariableTextTest, ReplacesReferencesAndNothingElse) {
  EXPECT_EQ(Expand("${HOME}/bin:${_a1}").text, "/home/ada/bin:x");
  EXPECT_EQ(Expand("$HOME $ {HOME} $$ }").text, "$HOME $ {HOME} $$ }");
  EXPECT_EQ(Expand("").text, "");
  EXPECT_EQ(Expand("${EMPTY}|").text, "|");
}

TEST(VariableTextTest, DoesNotReplaceReferencesInValues) {
  EXPECT_EQ(Expand("${NESTED}").text, "${HOME}");
}

TEST(VariableTextTest, AnEscapedReferenceIsLiteral) {
  EXPECT_EQ(Expand("$${HOME}").text, "${HOME}");
  EXPECT_EQ(Expand("a$${").text, "a${");
}

TEST(VariableTextTest, AFallbackReplacesAnUnsetOrEmptyVariable) {
  EXPECT_EQ(Expand("${MISSING:-/opt/x}").text, "/opt/x");
  EXPECT_EQ(Expand("${EMPTY:-y}").text, "y");
  EXPECT_EQ(Expand("${HOME:-y}").text, "/home/ada");
  EXPECT_EQ(Expand("${MISSING:-}|").text, "|");
  EXPECT_EQ(Expand("${MISSING:-a:-b}").text, "a:-b");
}

TEST(VariableTextTest, ReportsTheFirstProblem) {
  EXPECT_EQ(Expand("${HOME}").problem, "");
  EXPECT_EQ(Expand("a ${MISSING} ${OTHER}").problem, "variable MISSING is not set");
  EXPECT_EQ(Expand("${HOME").problem,
            "`${HOME` has no closing brace; write `$${` for a literal `${`");
  for (const char* text : {"${}", "${1A}", "${A B}", "${A-b}", "${:-x}", "${a${b}}"}) {
    EXPECT_NE(Expand(text).problem.find("does not name a variable"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace trainyard
