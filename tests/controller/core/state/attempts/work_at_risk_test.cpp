#include "controller/core/state/attempts/work_at_risk.h"

#include <string>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

constexpr Timestamp kStarted = 5000;

v1::Attempt StartedAttempt() {
  v1::Attempt attempt;
  attempt.set_number(2);
  attempt.set_started_time_ms(kStarted);
  return attempt;
}

v1::Checkpoint& AddCheckpoint(v1::Job& job, int64_t step, Timestamp time_ms) {
  v1::Checkpoint& checkpoint = *job.add_checkpoints();
  checkpoint.set_step(step);
  checkpoint.set_path("/c/" + std::to_string(step));
  checkpoint.set_time_ms(time_ms);
  return checkpoint;
}

TEST(WorkAtRiskTest, WithoutACheckpointAllStepsOfTheAttemptAreAtRisk) {
  const WorkAtRisk work = WorkAtRiskOf({}, StartedAttempt(), 30);
  EXPECT_EQ(work.steps, 30);
  EXPECT_EQ(work.saved_step, 0);
  EXPECT_EQ(work.since_ms, kStarted);
}

TEST(WorkAtRiskTest, TheNewestSoundCheckpointKeepsTheStepsBeforeIt) {
  v1::Job job;
  AddCheckpoint(job, 20, 9000);
  AddCheckpoint(job, 28, 9500).set_damaged(true);
  const WorkAtRisk work = WorkAtRiskOf(job, StartedAttempt(), 30);
  EXPECT_EQ(work.steps, 10);
  EXPECT_EQ(work.saved_step, 20);
  EXPECT_EQ(work.since_ms, 9000);
}

TEST(WorkAtRiskTest, TheWorkOfAnAttemptBeginsAtItsStart) {
  v1::Job job;
  AddCheckpoint(job, 20, kStarted - 1000);
  EXPECT_EQ(WorkAtRiskOf(job, StartedAttempt(), 30).since_ms, kStarted);
}

TEST(WorkAtRiskTest, ASavedLastStepLeavesNothingAtRisk) {
  v1::Job job;
  AddCheckpoint(job, 30, 9000);
  const WorkAtRisk work = WorkAtRiskOf(job, StartedAttempt(), 30);
  EXPECT_EQ(work.steps, 0);
  EXPECT_EQ(work.since_ms, 0);
}

TEST(WorkAtRiskTest, AProgramThatResumedByItselfBeganAfterItsOwnCheckpoint) {
  v1::Attempt attempt = StartedAttempt();
  attempt.set_first_step(1001);
  const WorkAtRisk work = WorkAtRiskOf({}, attempt, 1030);
  EXPECT_EQ(work.saved_step, 1000);
  EXPECT_EQ(work.steps, 30);
}

}  // namespace
}  // namespace trainyard::controller
