#include "proto/jobspec/rules/failure_rule.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  return std::string(ParseFailureRule(text).status().message());
}

TEST(FailureRuleTest, HasActionPatternAndMessage) {
  const auto rule = ParseFailureRule("fail  CUDA (out of|no) memory => lower the batch ");
  ASSERT_TRUE(rule.ok()) << rule.status();
  EXPECT_EQ(rule->action, v1::FAILURE_ACTION_FAIL);
  EXPECT_EQ(rule->pattern, "CUDA (out of|no) memory");
  EXPECT_EQ(rule->message, "lower the batch");
  EXPECT_EQ(ParseFailureRule("retry a b")->pattern, "a b");
  EXPECT_EQ(ParseFailureRule("retry a b")->message, "");
  EXPECT_EQ(ParseFailureRule("other_node x")->action, v1::FAILURE_ACTION_OTHER_NODE);
}

TEST(FailureRuleTest, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf("stop x"),
              HasSubstr("begins with \"stop\"; write retry, fail or other_node"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("begins with \"\""));
  EXPECT_THAT(ErrorOf("fail"), HasSubstr("a pattern is missing after fail"));
  EXPECT_THAT(ErrorOf("fail => why"), HasSubstr("a pattern is missing after fail"));
  EXPECT_THAT(ErrorOf("fail ("), HasSubstr("its pattern is not valid: missing )"));
}

}  // namespace
}  // namespace trainyard
