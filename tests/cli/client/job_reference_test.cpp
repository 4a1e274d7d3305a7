#include "cli/client/job_reference.h"

#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

TEST(JobReferenceTest, ReadsNumbersNamesAttemptsAndLast) {
  EXPECT_EQ(ParseJobReference("17")->job, "17");
  EXPECT_EQ(ParseJobReference("llama3-8b.c4_x")->job, "llama3-8b.c4_x");
  EXPECT_EQ(ParseJobReference("@last")->job, "@last");
  EXPECT_EQ(ParseJobReference("@last")->attempt, 0);
  EXPECT_EQ(ParseJobReference("17@3")->job, "17");
  EXPECT_EQ(ParseJobReference("17@3")->attempt, 3);
  EXPECT_EQ(ParseJobReference("@last@2")->job, "@last");
  EXPECT_EQ(ParseJobReference("@last@2")->attempt, 2);
}

TEST(JobReferenceTest, RefusesEverythingElse) {
  for (const char* text : {"", "@", "@first", "Tiny", "a b", "a/b", "tiny@", "tiny@-1", "tiny@0",
                           "tiny@1x", "-x", "\xff", "a@99999999999999999999"}) {
    EXPECT_EQ(ParseJobReference(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(JobReferenceTest, AWholeJobHasNoAttempt) {
  EXPECT_EQ(*ParseWholeJob("tiny"), "tiny");
  EXPECT_FALSE(ParseWholeJob("tiny@2").ok());
}

}  // namespace
}  // namespace trainyard::cli
