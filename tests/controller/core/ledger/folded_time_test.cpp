// Tests the time of attempts that the job no longer lists. job.earlier stores the time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/ledger/ledger.h"
#include "tests/controller/core/ledger/restarted_job.h"

namespace trainyard::controller {
namespace {

// Returns one line per phase, such as "LEDGER_PHASE_INIT 1000 ms, 8000 slot ms".
std::vector<std::string> EarlierLines(const v1::EarlierTime& earlier) {
  std::vector<std::string> lines;
  for (const v1::PhaseSum& sum : earlier.phases()) {
    lines.push_back(absl::StrCat(v1::LedgerPhase_Name(sum.phase()), " ", sum.length_ms(), " ms, ",
                                 sum.slot_ms(), " slot ms"));
  }
  return lines;
}

std::string TrainedLine(const v1::TrainedSteps& trained) {
  return absl::StrCat("after ", trained.resume_step(), ": ", trained.steps(), " steps, ",
                      trained.kept_steps(), " kept, ", trained.length_ms(), " ms, ",
                      trained.slot_ms(), " slot ms");
}

void AddTrainedSteps(int64_t resume_step, int64_t steps, int64_t kept, int64_t length_ms,
                     int64_t slot_ms, v1::EarlierTime& earlier) {
  v1::TrainedSteps& trained = *earlier.add_trained();
  trained.set_resume_step(resume_step);
  trained.set_steps(steps);
  trained.set_kept_steps(kept);
  trained.set_length_ms(length_ms);
  trained.set_slot_ms(slot_ms);
}

// Returns the RESTART slot seconds of a job with `slots` slots. The job's only earlier record is a
// RESTART phase of `length_ms` and `slot_ms`.
double RestartSlotSeconds(int slots, int64_t length_ms, int64_t slot_ms) {
  v1::Job job;
  job.set_submitted_time_ms(1000);
  job.set_ended_time_ms(1000 + length_ms);
  job.mutable_spec()->mutable_resources()->set_nodes(1);
  job.mutable_spec()->mutable_resources()->set_slots_per_node(slots);
  job.mutable_earlier()->set_until_ms(1000 + length_ms);
  v1::PhaseSum& restart = *job.mutable_earlier()->add_phases();
  restart.set_phase(v1::LEDGER_PHASE_RESTART);
  restart.set_length_ms(length_ms);
  restart.set_slot_ms(slot_ms);
  return SlotSecondsOf(LedgerOf(job, 90'000), v1::LEDGER_PHASE_RESTART);
}

TEST(FoldedTimeTest, AFoldedAttemptLeavesItsPhasesAndItsTraining) {
  v1::Job job = RestartedJob();
  FoldOldestAttempt(job);
  EXPECT_THAT(EarlierLines(job.earlier()),
              testing::ElementsAre("LEDGER_PHASE_QUEUED 2000 ms, 0 slot ms",
                                   "LEDGER_PHASE_INIT 1000 ms, 8000 slot ms",
                                   "LEDGER_PHASE_RESTART 1000 ms, 8000 slot ms"));
  ASSERT_EQ(job.earlier().trained_size(), 1);
  EXPECT_EQ(TrainedLine(job.earlier().trained(0)),
            "after 0: 100 steps, 100 kept, 10000 ms, 80000 slot ms");
  EXPECT_EQ(job.earlier().until_ms(), 15'000);
  EXPECT_EQ(job.earlier().newest_attempt(), 1);
  ASSERT_EQ(job.attempts_size(), 1);
  EXPECT_EQ(job.attempts(0).number(), 2);
}

TEST(FoldedTimeTest, ARecordWithoutSlotTimeCountsForTheSlotsOfTheSpec) {
  EXPECT_DOUBLE_EQ(RestartSlotSeconds(1, 3000, 0), 3);
  EXPECT_DOUBLE_EQ(RestartSlotSeconds(8, 3000, 0), 24);
  EXPECT_DOUBLE_EQ(RestartSlotSeconds(8, 1, 1), 0.001) << "one slot millisecond is known";
}

TEST(FoldedTimeTest, BeyondTheLimitTheTwoOldestRecordsOfTrainingAreJoined) {
  v1::Job job = RestartedJob();
  job.mutable_attempts()->DeleteSubrange(1, 1);
  v1::EarlierTime& earlier = *job.mutable_earlier();
  earlier.set_until_ms(2000);
  earlier.set_newest_attempt(299);
  // A fifth of the first record's steps and half of the second record's steps were trained again.
  AddTrainedSteps(0, 100, 80, 1000, 8000, earlier);
  AddTrainedSteps(80, 100, 50, 2000, 4000, earlier);
  for (int64_t i = 0; i < 254; ++i) AddTrainedSteps(130 + 10 * i, 10, 10, 10, 80, earlier);
  v1::Attempt& attempt = *job.mutable_attempts(0);
  attempt.set_number(300);
  attempt.set_resume_step(2670);
  attempt.set_last_step(2680);
  FoldOldestAttempt(job);
  ASSERT_EQ(job.earlier().trained_size(), 256);
  EXPECT_EQ(TrainedLine(job.earlier().trained(0)),
            "after 0: 130 steps, 130 kept, 1800 ms, 8400 slot ms");
  EXPECT_EQ(TrainedLine(job.earlier().trained(1)),
            "after 130: 10 steps, 10 kept, 10 ms, 80 slot ms");
  EXPECT_EQ(TrainedLine(job.earlier().trained(255)),
            "after 2670: 10 steps, 10 kept, 10000 ms, 80000 slot ms");
  EXPECT_THAT(EarlierLines(job.earlier()),
              testing::Contains("LEDGER_PHASE_REDONE 1200 ms, 3600 slot ms"));
}

}  // namespace
}  // namespace trainyard::controller
