// Tests `after` in job files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/fields/after_entry.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(AfterTest, AnEntryIsAJobAndACondition) {
  const auto plain = ParseAfterEntry("tokens");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->job, "tokens");
  EXPECT_EQ(plain->condition, v1::JOB_CONDITION_SUCCESS);
  EXPECT_EQ(ParseAfterEntry("12:success")->condition, v1::JOB_CONDITION_SUCCESS);
  EXPECT_EQ(ParseAfterEntry("12:failure")->condition, v1::JOB_CONDITION_FAILURE);
  EXPECT_EQ(ParseAfterEntry("@last:end")->condition, v1::JOB_CONDITION_END);
  EXPECT_EQ(ParseAfterEntry("@last:end")->job, "@last");
  const auto any = ParseAfterEntry("run:checkpoint");
  EXPECT_EQ(any->condition, v1::JOB_CONDITION_CHECKPOINT);
  EXPECT_EQ(any->step, 0);
  EXPECT_EQ(ParseAfterEntry("run:checkpoint:5000")->step, 5000);
  EXPECT_EQ(ParseAfterEntry("run:checkpoint:999999999999999999")->step, 999999999999999999);
}

TEST(AfterTest, AnInvalidEntryIsRefusedWithAnExample) {
  const auto refusal = [](const std::string& text) {
    return std::string(ParseAfterEntry(text).status().message());
  };
  EXPECT_EQ(refusal("prep:done"),
            "\"done\" is not a condition; write success, failure, end or checkpoint, as in "
            "`prep:failure`");
  EXPECT_THAT(refusal("prep:"), HasSubstr("\"\" is not a condition"));
  EXPECT_EQ(refusal("prep:end:5"),
            "only the condition checkpoint can have a step; write `prep:end`");
  for (const char* step : {"", "5k", "-1", "5:6", "1000000000000000000"}) {
    EXPECT_EQ(refusal(absl::StrCat("run:checkpoint:", step)),
              absl::StrCat("\"", step,
                           "\" is not a step; write a whole number, as in "
                           "`run:checkpoint:5000`"));
  }
}

TEST(AfterTest, AJobFileNamesConditions) {
  EXPECT_THAT(
      Errors(absl::StrCat(kCommandJob, "after: [prep:failure, 12:end, run:checkpoint:5000]\n")),
      IsEmpty());
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "after: [prep:done]\n")),
              ElementsAre(HasSubstr("`after` contains \"prep:done\": \"done\" is not a")));
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "after: [hello:failure]\n")),
              ElementsAre(HasSubstr("a job cannot wait for itself")));
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "after: [prep: failure]\n")),
              ElementsAre(HasSubstr("an entry of `after` must be text, not a mapping")));
  std::string many = "after: [a1";
  for (int i = 2; i <= 33; ++i) absl::StrAppend(&many, ", a", i, ":end");
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, many, "]\n")),
              ElementsAre(HasSubstr("`after` has 33 entries; at most 32")));
}

TEST(AfterTest, AJobCannotWaitForItself) {
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "after: [tokens, 12, '@last']\n")), IsEmpty());
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "after: [hello]\n")),
              ElementsAre(HasSubstr("a job cannot wait for itself")));
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "after: ['Not a job']\n")),
              ElementsAre(HasSubstr("an entry must match")));
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "after: tokens\n")),
              ElementsAre(HasSubstr("`after` must be a list")));
}

}  // namespace
}  // namespace trainyard
