#include "controller/core/ledger/paused_time.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(PausedTimeTest, OnlyPausesThatEndedCountForAJobThatIsNotPaused) {
  v1::Job job;
  EXPECT_EQ(PausedMs(job, 1000, 9000), 0);
  job.set_paused_ms(700);
  EXPECT_EQ(PausedMs(job, 1000, 9000), 700);
}

TEST(PausedTimeTest, APauseCountsFromItsBeginOrFromTheEndOfTheAttempt) {
  v1::Job job;
  job.set_paused_ms(700);
  job.mutable_pause()->set_time_ms(5000);
  EXPECT_EQ(PausedMs(job, 1000, 9000), 700 + 4000);
  EXPECT_EQ(PausedMs(job, 6000, 9000), 700 + 3000) << "its attempt ran until 6 s";
}

TEST(PausedTimeTest, APauseThatBeginsNowOrLaterTakesNoTime) {
  v1::Job job;
  job.set_paused_ms(700);
  job.mutable_pause()->set_time_ms(5000);
  EXPECT_EQ(PausedMs(job, 1000, 5000), 700);
  EXPECT_EQ(PausedMs(job, 1000, 4000), 700) << "the clock was set back";
  EXPECT_EQ(PausedMs(job, 1000, 5001), 701);
}

}  // namespace
}  // namespace trainyard::controller
