#include "proto/jobspec/rules/time_limit_rules.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using testing::HasSubstr;

// Returns the errors of a job with these lines, or "" if the job is valid.
std::string ErrorOfLimit(const std::string& lines) {
  return absl::StrJoin(Errors(absl::StrCat(kCommandJob, lines)), "; ");
}

TEST(TimeLimitRulesTest, AcceptsALimitWithAndWithoutAWarning) {
  EXPECT_EQ(ErrorOfLimit("time_limit: 12h\n"), "");
  EXPECT_EQ(ErrorOfLimit("time_limit: 365d\nat_time_limit: requeue\n"), "");
  EXPECT_EQ(ErrorOfLimit("time_limit: 12h\ntime_limit_signal: USR1\n"), "");
  EXPECT_EQ(ErrorOfLimit("time_limit: 12h\ntime_limit_signal: USR2\ntime_limit_warning: 10m\n"),
            "");
}

TEST(TimeLimitRulesTest, RejectsLimitsOutOfRange) {
  EXPECT_THAT(ErrorOfLimit("time_limit: 0s\n"), HasSubstr("time_limit"));
  EXPECT_THAT(ErrorOfLimit("time_limit: -1h\n"), HasSubstr("must be a duration"));
  EXPECT_THAT(ErrorOfLimit("time_limit: 3650d\n"), HasSubstr("time_limit"));
  EXPECT_THAT(ErrorOfLimit("time_limit: 12\n"), HasSubstr("unit"));
}

TEST(TimeLimitRulesTest, RejectsSignalsThatAreNotForWarnings) {
  EXPECT_THAT(ErrorOfLimit("time_limit: 12h\ntime_limit_signal: KILL\n"), HasSubstr("USR1|USR2"));
  EXPECT_THAT(ErrorOfLimit("time_limit: 12h\ntime_limit_signal: 10\n"), HasSubstr("USR1|USR2"));
}

TEST(TimeLimitRulesTest, RejectsAWarningThatIsNotBeforeTheLimit) {
  EXPECT_THAT(ErrorOfLimit("time_limit: 1h\ntime_limit_signal: USR1\ntime_limit_warning: 1h\n"),
              HasSubstr("`time_limit_warning` is 3600s, but must be shorter than `time_limit`, "
                        "which is 3600s"));
  EXPECT_THAT(ErrorOfLimit("time_limit: 60s\ntime_limit_signal: USR1\n"),
              HasSubstr("`time_limit_warning` is 60s by default"));
}

TEST(TimeLimitRulesTest, RejectsSettingsWithoutEffect) {
  EXPECT_THAT(ErrorOfLimit("at_time_limit: requeue\n"),
              HasSubstr("`at_time_limit` needs `time_limit`"));
  EXPECT_THAT(ErrorOfLimit("time_limit_signal: USR1\n"),
              HasSubstr("`time_limit_signal` needs `time_limit`"));
  EXPECT_THAT(ErrorOfLimit("time_limit_warning: 10m\n"),
              HasSubstr("`time_limit_warning` needs `time_limit`"));
  EXPECT_THAT(ErrorOfLimit("time_limit: 12h\ntime_limit_warning: 10m\n"),
              HasSubstr("no effect without `time_limit_signal`"));
}

}  // namespace
}  // namespace trainyard
