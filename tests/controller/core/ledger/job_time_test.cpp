// Tests JobTimeOf: which fields and spans it writes into a job's time for reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/ledger/ledger.h"
#include "tests/controller/core/ledger/restarted_job.h"

namespace trainyard::controller {
namespace {

// Returns one line per span, such as "LEDGER_PHASE_INIT 3000+1000: 1000 ms, 8000 slot ms".
std::vector<std::string> JobTimeLines(const v1::JobTime& time) {
  std::vector<std::string> lines;
  for (const v1::JobTimeSpan& span : time.spans()) {
    lines.push_back(absl::StrCat(v1::LedgerPhase_Name(span.phase()), " ", span.begin_ms(), "+",
                                 span.range_ms(), ": ", span.length_ms(), " ms, ", span.slot_ms(),
                                 " slot ms"));
  }
  return lines;
}

TEST(JobTimeTest, TheTimeOfAJobNamesTheJobAndItsUser) {
  v1::Job job = RestartedJob();
  job.set_id(7);
  job.set_name("llama");
  job.set_user("ada");
  job.set_ended_time_ms(20'000);
  const v1::JobTime time = JobTimeOf(job, 90'000);
  EXPECT_EQ(time.job_id(), 7);
  EXPECT_EQ(time.name(), "llama");
  EXPECT_EQ(time.user(), "ada");
  EXPECT_EQ(time.submitted_time_ms(), 1000);
  EXPECT_EQ(time.ended_time_ms(), 20'000);
  EXPECT_EQ(time.restarts(), 1);
}

TEST(JobTimeTest, RestartsAreTheAttemptsAfterTheFirstWithoutThoseAfterAPause) {
  v1::Job job = RestartedJob();
  EXPECT_EQ(JobTimeOf(job, 20'000).restarts(), 1);
  job.mutable_attempts()->DeleteSubrange(0, 1);
  job.mutable_attempts(0)->set_number(5);
  EXPECT_EQ(JobTimeOf(job, 20'000).restarts(), 4) << "unlisted attempts count";
  job.set_resumed_starts(3);
  EXPECT_EQ(JobTimeOf(job, 20'000).restarts(), 1);
  job.clear_attempts();
  EXPECT_EQ(JobTimeOf(job, 20'000).restarts(), 0);
}

TEST(JobTimeTest, EachSpanHasItsLengthAndSlotTimeAndStandbysHaveSlotTimeOnly) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(1)->set_standbys(1);
  EXPECT_THAT(JobTimeLines(JobTimeOf(job, 20'000)),
              testing::ElementsAre("LEDGER_PHASE_QUEUED 1000+2000: 2000 ms, 0 slot ms",
                                   "LEDGER_PHASE_INIT 3000+1000: 1000 ms, 8000 slot ms",
                                   "LEDGER_PHASE_TRAIN 4000+8000: 8000 ms, 64000 slot ms",
                                   "LEDGER_PHASE_REDONE 12000+2000: 2000 ms, 16000 slot ms",
                                   "LEDGER_PHASE_RESTART 14000+1000: 1000 ms, 8000 slot ms",
                                   "LEDGER_PHASE_RESTART 15000+1000: 1000 ms, 8000 slot ms",
                                   "LEDGER_PHASE_INIT 16000+1000: 1000 ms, 8000 slot ms",
                                   "LEDGER_PHASE_TRAIN 17000+3000: 3000 ms, 24000 slot ms",
                                   "LEDGER_PHASE_STANDBY 16000+4000: 0 ms, 4000 slot ms"));
}

TEST(JobTimeTest, TheKindOfSlotsIsThatOfTheJob) {
  v1::Job job = RestartedJob();
  job.mutable_spec()->mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
  EXPECT_EQ(JobTimeOf(job, 20'000).device(), v1::DEVICE_KIND_CPU);
}

// Saves happen throughout the training, so no save has a time of its own. The start and the
// repeated steps have their own times.
TEST(JobTimeTest, PhasesThatInterruptTheTrainingAreSpreadOverIt) {
  v1::Job job = RestartedJob();
  v1::TimeUse& use = *job.mutable_attempts(0)->mutable_time_use();
  use.set_load_ms(1000);
  use.set_checkpoint_ms(1000);
  use.set_evaluation_ms(3000);
  job.mutable_attempts()->DeleteSubrange(1, 1);
  job.mutable_attempts(0)->mutable_verdict()->set_time_ms(15'000);
  EXPECT_THAT(JobTimeLines(JobTimeOf(job, 15'000)),
              testing::ElementsAre("LEDGER_PHASE_QUEUED 1000+2000: 2000 ms, 0 slot ms",
                                   "LEDGER_PHASE_INIT 3000+1000: 1000 ms, 8000 slot ms",
                                   "LEDGER_PHASE_LOAD 4000+1000: 1000 ms, 8000 slot ms",
                                   "LEDGER_PHASE_EVALUATION 5000+10000: 3000 ms, 24000 slot ms",
                                   "LEDGER_PHASE_CHECKPOINT 5000+10000: 1000 ms, 8000 slot ms",
                                   "LEDGER_PHASE_TRAIN 5000+10000: 6000 ms, 48000 slot ms"));
}

TEST(JobTimeTest, RepeatedStepsAreTheNewestOfTheAttempt) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(0)->mutable_time_use()->set_checkpoint_ms(5000);
  const v1::JobTime time = JobTimeOf(job, 20'000);
  // Attempt 2 repeats a fifth of the 5 s of steps.
  EXPECT_THAT(JobTimeLines(time),
              testing::IsSupersetOf({"LEDGER_PHASE_CHECKPOINT 4000+9000: 5000 ms, 40000 slot ms",
                                     "LEDGER_PHASE_TRAIN 4000+9000: 4000 ms, 32000 slot ms",
                                     "LEDGER_PHASE_REDONE 13000+1000: 1000 ms, 8000 slot ms"}));
}

TEST(JobTimeTest, UnsavedStepsAreTheNewestOfTheAttempt) {
  v1::Job job = RestartedJob();
  v1::Attempt& newest = *job.mutable_attempts(1);
  newest.set_last_step(180);
  newest.mutable_time_use()->set_slow_ms(1000);
  newest.mutable_time_use()->set_unsaved_steps(50);
  EXPECT_THAT(JobTimeLines(JobTimeOf(job, 20'000)),
              testing::IsSupersetOf({"LEDGER_PHASE_SLOW 17000+2000: 1000 ms, 8000 slot ms",
                                     "LEDGER_PHASE_TRAIN 17000+2000: 1000 ms, 8000 slot ms",
                                     "LEDGER_PHASE_UNSAVED 19000+1000: 1000 ms, 8000 slot ms"}));
}

TEST(JobTimeTest, AStandbySeatedAtItsPlacementHasNoSpan) {
  v1::Job job = RestartedJob();
  v1::Attempt& attempt = *job.mutable_attempts(1);
  attempt.set_standbys(1);
  v1::Heal& heal = *attempt.add_heals();
  heal.set_began_ms(16'000);
  heal.set_healed_ms(16'000);
  heal.add_seats();
  const v1::JobTime time = JobTimeOf(job, 20'000);
  for (const v1::JobTimeSpan& span : time.spans()) {
    EXPECT_NE(span.phase(), v1::LEDGER_PHASE_STANDBY) << span.DebugString();
  }
}

}  // namespace
}  // namespace trainyard::controller
