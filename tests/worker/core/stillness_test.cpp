#include "worker/core/stillness.h"

#include "gtest/gtest.h"

namespace trainyard::worker {
namespace {

constexpr int64_t kPauseMs = 3000;

class StillnessTest : public ::testing::Test {
 protected:
  // Advances the time by `ms`. Returns rank 0's report in the heartbeat, at this step and phase.
  v1::RankReport Beat(int64_t ms, int64_t step, const std::string& phase = "train",
                      int64_t attempt = 1, bool running = true) {
    now_ += ms;
    std::vector<v1::AttemptReport> reports(1);
    reports[0].set_job_id(7);
    reports[0].set_attempt(attempt);
    v1::RankReport& rank = *reports[0].add_ranks();
    rank.set_running(running);
    rank.set_step(step);
    rank.set_phase(phase);
    rank.set_last_activity_ms(activity_ms_);
    stillness_.Note(now_, kPauseMs, reports);
    return reports[0].ranks(0);
  }

  int64_t now_ = 5000;
  // The time of the last activity, by the node's wall clock, which may jump.
  int64_t activity_ms_ = 777;
  Stillness stillness_;
};

TEST_F(StillnessTest, CountsSinceTheLastStep) {
  EXPECT_EQ(Beat(0, 5).still_ms(), 0) << "nobody knows since when";
  EXPECT_EQ(Beat(1000, 5).still_ms(), 1000);
  EXPECT_EQ(Beat(1000, 6).still_ms(), 0);
  EXPECT_EQ(Beat(1000, 6).still_ms(), 1000);
  EXPECT_EQ(Beat(2500, 6).still_ms(), 3500);
}

TEST_F(StillnessTest, ANewPhaseIsProgress) {
  Beat(0, 5);
  Beat(1000, 5);
  EXPECT_EQ(Beat(1000, 5, "eval").still_ms(), 0);
  EXPECT_EQ(Beat(1000, 5, "eval").still_ms(), 1000);
}

TEST_F(StillnessTest, OutputIsALifeSignAndNoStep) {
  EXPECT_EQ(Beat(0, 5).quiet_ms(), 0);
  EXPECT_EQ(Beat(1000, 5).quiet_ms(), 1000);
  activity_ms_ = 500;
  const v1::RankReport chatters = Beat(1000, 5);
  EXPECT_EQ(chatters.quiet_ms(), 0);
  EXPECT_EQ(chatters.still_ms(), 2000);
  Beat(1000, 5);
  EXPECT_EQ(Beat(1000, 6).quiet_ms(), 0) << "a step is one, too";
  Beat(1000, 6);
  EXPECT_EQ(Beat(60'000, 6).quiet_ms(), 1000) << "a pause is left out";
}

TEST_F(StillnessTest, APauseOfTheWorkerCountsAsNoTime) {
  Beat(0, 5);
  Beat(1000, 5);
  EXPECT_EQ(Beat(kPauseMs, 5).still_ms(), 4000) << "no longer than heartbeats may take";
  EXPECT_EQ(Beat(kPauseMs + 1, 5).still_ms(), 4000) << "a pause is left out";
  EXPECT_EQ(Beat(60'000, 5).still_ms(), 4000);
  EXPECT_EQ(Beat(1000, 5).still_ms(), 5000);
}

TEST_F(StillnessTest, TheSecondLongestStepIsThePace) {
  Beat(0, 1);
  Beat(1000, 2);
  EXPECT_EQ(Beat(2000, 3).slow_step_ms(), 0);
  EXPECT_EQ(Beat(1500, 4).slow_step_ms(), 0) << "two times are too few";
  EXPECT_EQ(Beat(1000, 5).slow_step_ms(), 1500);
  EXPECT_EQ(Beat(3000, 6).slow_step_ms(), 2000);
  EXPECT_EQ(Beat(1000, 6).slow_step_ms(), 2000) << "also while it makes none";
}

TEST_F(StillnessTest, StepsBesideAPhaseOrAPauseAreNotTimed) {
  for (int64_t step = 1; step <= 5; ++step) Beat(1000, step);
  Beat(3000, 5, "eval");
  Beat(3000, 6, "train");
  Beat(3000, 7, "train");
  EXPECT_EQ(Beat(1000, 8).slow_step_ms(), 1000) << "the first after a phase has no begin";
  Beat(60'000, 9);
  Beat(50'000, 10);
  EXPECT_EQ(Beat(1000, 11).slow_step_ms(), 1000);
}

TEST_F(StillnessTest, AStepAcrossAPauseIsNotTimed) {
  for (int64_t step = 1; step <= 5; ++step) Beat(1000, step);
  for (int64_t step = 5; step <= 6; ++step) {
    Beat(2000, step);
    Beat(60'000, step);
    Beat(1000, step + 1);
  }
  EXPECT_EQ(Beat(1000, 7).slow_step_ms(), 1000);
}

TEST_F(StillnessTest, AStepThatBeganWithAPhaseIsNotTimed) {
  for (int64_t step = 1; step <= 5; ++step) Beat(1000, step);
  for (int64_t step = 5; step <= 7; step += 2) {
    Beat(1000, step, "eval");
    Beat(1000, step + 1, "train");
    Beat(3000, step + 2, "train");
  }
  EXPECT_EQ(Beat(1000, 9).slow_step_ms(), 1000);
}

TEST_F(StillnessTest, StepsSeenAtOneMomentTookNoTime) {
  for (int64_t step = 1; step <= 5; ++step) Beat(0, step);
  EXPECT_EQ(Beat(0, 5).slow_step_ms(), 0);
  EXPECT_EQ(Beat(2, 6).slow_step_ms(), 0) << "the second longest";
}

TEST_F(StillnessTest, TheNewestTimesAreKept) {
  Beat(0, 1);
  Beat(1000, 2);
  Beat(3000, 3);
  Beat(3000, 4);
  int64_t step = 5;
  for (std::size_t times = 3; times < Stillness::kStepsKept; ++times) Beat(1000, step++);
  EXPECT_EQ(Beat(1000, step++).slow_step_ms(), 3000);
  EXPECT_EQ(Beat(1000, step++).slow_step_ms(), 1000);
}

TEST_F(StillnessTest, OldTimesAreForgotten) {
  Beat(0, 1);
  Beat(1000, 2);
  Beat(3000, 3);
  Beat(3000, 4);
  for (std::size_t i = 0; i < Stillness::kStepsKept; ++i) Beat(1000, 5 + static_cast<int64_t>(i));
  EXPECT_EQ(Beat(1000, 100).slow_step_ms(), 1000);
}

TEST_F(StillnessTest, EachAttemptBeginsAnewAndAnEndedRankHasNone) {
  Beat(0, 5);
  Beat(1000, 5);
  EXPECT_EQ(Beat(1000, 5, "train", 2).still_ms(), 0);
  EXPECT_EQ(Beat(1000, 5, "train", 2).still_ms(), 1000);
  EXPECT_EQ(Beat(1000, 5, "train", 2, false).still_ms(), 0);
}

}  // namespace
}  // namespace trainyard::worker
