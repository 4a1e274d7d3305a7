#include "controller/core/state/jobs/job_timing.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(JobTimingTest, AJobIsDueFromTheEndOfItsBackoff) {
  JobEntry entry;
  entry.job.set_not_before_ms(5000);
  EXPECT_FALSE(IsDue(entry, 0)) << "without an attempt";
  v1::Attempt& attempt = *entry.job.add_attempts();
  attempt.set_ended_time_ms(4000);
  EXPECT_FALSE(IsDue(entry, 4000));
  EXPECT_FALSE(IsDue(entry, 4999));
  EXPECT_TRUE(IsDue(entry, 5000));
  EXPECT_TRUE(IsDue(entry, 3999)) << "the clock was set back";
}

}  // namespace
}  // namespace trainyard::controller
