#include "controller/metrics/job_times.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::Pair;

v1::Attempt& AddAttempt(v1::Job& job, Timestamp placed, Timestamp started) {
  v1::Attempt& attempt = *job.add_attempts();
  attempt.set_epoch(job.attempts_size());
  attempt.set_placed_time_ms(placed);
  attempt.set_started_time_ms(started);
  return attempt;
}

TEST(JobTimesTest, QueuedJobOnlyWaits) {
  v1::Job job;
  job.set_submitted_time_ms(1000);
  EXPECT_THAT(JobTimes(job, 4000), ElementsAre(Pair("queued", 3000)));
}

TEST(JobTimesTest, RestartLastsFromTheFailureToTheNextPlacement) {
  v1::Job job;
  job.set_submitted_time_ms(0);
  v1::Attempt& first = AddAttempt(job, 100, 150);
  first.mutable_verdict()->set_time_ms(400);
  first.set_ended_time_ms(450);
  AddAttempt(job, 500, 520);
  EXPECT_THAT(JobTimes(job, 1000), ElementsAre(Pair("init", 50 + 20), Pair("queued", 100),
                                               Pair("restart", 100), Pair("train", 250 + 480)));
}

TEST(JobTimesTest, EndedJobStandsStill) {
  v1::Job job;
  job.set_submitted_time_ms(0);
  AddAttempt(job, 10, 20).set_ended_time_ms(90);
  job.set_ended_time_ms(90);
  EXPECT_THAT(JobTimes(job, 5000),
              ElementsAre(Pair("init", 10), Pair("queued", 10), Pair("train", 70)));
}

TEST(JobTimesTest, AttemptsThatAreNotKeptCountAsEarlier) {
  v1::Job job;
  job.set_submitted_time_ms(0);
  AddAttempt(job, 1000, 1100).set_epoch(101);
  EXPECT_THAT(JobTimes(job, 1200),
              ElementsAre(Pair("earlier", 1000), Pair("init", 100), Pair("train", 100)));
}

// Times of nodes' clocks may lie anywhere: the phases still add up to the job's time.
TEST(JobTimesTest, PhasesAddUpWhateverTheClocksSay) {
  std::mt19937 random(7);
  std::uniform_int_distribution<Timestamp> any(0, 2000);
  for (int round = 0; round < 2000; ++round) {
    v1::Job job;
    job.set_submitted_time_ms(500);
    const int attempts = static_cast<int>(any(random) % 4);
    for (int i = 0; i < attempts; ++i) {
      v1::Attempt& attempt = AddAttempt(job, any(random), any(random) % 3 == 0 ? 0 : any(random));
      if (any(random) % 2 == 0) attempt.mutable_verdict()->set_time_ms(any(random));
      if (any(random) % 2 == 0) attempt.set_ended_time_ms(any(random));
    }
    if (any(random) % 2 == 0) job.set_ended_time_ms(500 + any(random));
    const Timestamp end = job.ended_time_ms() != 0 ? job.ended_time_ms() : 3000;
    int64_t sum = 0;
    for (const auto& [phase, ms] : JobTimes(job, 3000)) {
      EXPECT_GT(ms, 0) << phase;
      sum += ms;
    }
    ASSERT_EQ(sum, end - 500) << job.DebugString();
  }
}

}  // namespace
}  // namespace trainyard::controller
