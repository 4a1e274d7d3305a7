// Tests the phases of an attempt with coinciding
// times, and the order of phases in the ledger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/ledger/ledger.h"
#include "tests/controller/core/ledger/restarted_job.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

// Returns one line per span, such as "LEDGER_PHASE_INIT of 1: 3000 to 4000 on 8 slots" for attempt
// 1.
std::vector<std::string> SpanLines(const v1::Ledger& ledger) {
  std::vector<std::string> lines;
  for (const v1::LedgerSpan& span : ledger.spans()) {
    lines.push_back(absl::StrCat(v1::LedgerPhase_Name(span.phase()), " of ", span.attempt(), ": ",
                                 span.begin_ms(), " to ", span.end_ms(), " on ", span.slots(),
                                 " slots"));
  }
  return lines;
}

TEST(AttemptPhasesTest, ASpanNamesItsAttemptItsTimesAndTheSlotsHeld) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(1)->mutable_layout()->set_nodes(1);
  job.mutable_attempts(1)->mutable_layout()->set_slots_per_node(4);
  // Until attempt 2 is placed, the job keeps the slots of attempt 1.
  EXPECT_THAT(SpanLines(LedgerOf(job, 20'000)),
              testing::ElementsAre("LEDGER_PHASE_QUEUED of 0: 1000 to 3000 on 0 slots",
                                   "LEDGER_PHASE_INIT of 1: 3000 to 4000 on 8 slots",
                                   "LEDGER_PHASE_TRAIN of 1: 4000 to 12000 on 8 slots",
                                   "LEDGER_PHASE_REDONE of 1: 12000 to 14000 on 8 slots",
                                   "LEDGER_PHASE_RESTART of 1: 14000 to 15000 on 8 slots",
                                   "LEDGER_PHASE_RESTART of 1: 15000 to 16000 on 8 slots",
                                   "LEDGER_PHASE_INIT of 2: 16000 to 17000 on 4 slots",
                                   "LEDGER_PHASE_TRAIN of 2: 17000 to 0 on 4 slots"));
}

TEST(AttemptPhasesTest, TimeOfDroppedAttemptsBelongsToNoAttempt) {
  v1::Job job = RestartedJob();
  job.mutable_attempts()->DeleteSubrange(0, 1);
  EXPECT_THAT(SpanLines(LedgerOf(job, 20'000)),
              testing::ElementsAre("LEDGER_PHASE_UNSPECIFIED of 0: 1000 to 16000 on 8 slots",
                                   "LEDGER_PHASE_INIT of 2: 16000 to 17000 on 8 slots",
                                   "LEDGER_PHASE_TRAIN of 2: 17000 to 0 on 8 slots"));
}

TEST(AttemptPhasesTest, TheLargestPhaseComesFirstAndEqualOnesKeepTheOrderOfPhases) {
  std::vector<v1::LedgerPhase> order;
  const v1::Ledger ledger = LedgerOf(RestartedJob(), 20'000);
  for (const v1::PhaseTime& time : ledger.phases()) order.push_back(time.phase());
  EXPECT_THAT(order, testing::ElementsAre(v1::LEDGER_PHASE_TRAIN, v1::LEDGER_PHASE_QUEUED,
                                          v1::LEDGER_PHASE_INIT, v1::LEDGER_PHASE_REDONE,
                                          v1::LEDGER_PHASE_RESTART));
}

TEST(AttemptPhasesTest, AJobThatHasNotTrainedHasNoGoodput) {
  v1::Job job = RestartedJob();
  job.mutable_attempts()->DeleteSubrange(1, 1);
  job.mutable_attempts(0)->clear_started_time_ms();
  job.mutable_attempts(0)->clear_ended_time_ms();
  job.mutable_attempts(0)->clear_verdict();
  const v1::Ledger ledger = LedgerOf(job, 5000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_INIT), 2);
  EXPECT_EQ(ledger.goodput_ratio(), 0);
}

// Because the clocks of nodes differ, a failure may carry a time at or before the placement.
TEST(AttemptPhasesTest, OnlyAFailureAfterThePlacementEndsTheUsefulTime) {
  v1::Job job = RestartedJob();
  v1::Verdict& verdict = *job.mutable_attempts(0)->mutable_verdict();
  verdict.set_time_ms(3000);
  // Attempt 1 counts as useful until it ends at 15 s. Attempt 2 is placed 1 s later, so RESTART
  // takes 1 s.
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_RESTART), 1);
  verdict.set_time_ms(3001);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_RESTART), 12.999);
}

TEST(AttemptPhasesTest, AHealBeginsAtItsFailureOnlyIfThatFollowsTheHealBefore) {
  v1::Job job = RestartedJob();
  v1::Heal& first = *job.mutable_attempts(0)->add_heals();
  first.mutable_verdict()->set_time_ms(8000);
  first.set_began_ms(8500);
  first.set_healed_ms(10'000);
  v1::Heal& second = *job.mutable_attempts(0)->add_heals();
  second.mutable_verdict()->set_time_ms(10'000);
  second.set_began_ms(11'000);
  second.set_healed_ms(12'000);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_HEAL), 2 + 1);
  second.mutable_verdict()->set_time_ms(10'500);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_HEAL), 2 + 1.5);
}

TEST(AttemptPhasesTest, AHealAfterTheUsefulTimeTakesNoneOfIt) {
  v1::Job job = RestartedJob();
  v1::Heal& heal = *job.mutable_attempts(0)->add_heals();
  heal.mutable_verdict()->set_time_ms(14'200);
  heal.set_began_ms(14'500);
  EXPECT_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_HEAL), 0);
}

TEST(AttemptPhasesTest, TheEndOfAnAttemptIsAStopOnlyIfAUserAskedForIt) {
  const auto seconds_of = [](v1::LedgerPhase phase, v1::StopReason reason) {
    v1::Job job = RestartedJob();
    v1::Attempt& attempt = *job.mutable_attempts(1);
    attempt.set_state(v1::ATTEMPT_STATE_STOPPING);
    attempt.set_stop_reason(reason);
    attempt.set_stopping_time_ms(18'000);
    return SecondsOf(LedgerOf(job, 20'000), phase);
  };
  for (const v1::StopReason reason : {v1::STOP_REASON_USER, v1::STOP_REASON_PAUSED}) {
    EXPECT_DOUBLE_EQ(seconds_of(v1::LEDGER_PHASE_STOP, reason), 2) << reason;
    EXPECT_DOUBLE_EQ(seconds_of(v1::LEDGER_PHASE_RESTART, reason), 2) << reason;
  }
  for (const v1::StopReason reason : {v1::STOP_REASON_UNSPECIFIED, v1::STOP_REASON_FAILED,
                                      v1::STOP_REASON_ROLLED_BACK, v1::STOP_REASON_STALLED}) {
    EXPECT_DOUBLE_EQ(seconds_of(v1::LEDGER_PHASE_STOP, reason), 0) << reason;
    EXPECT_DOUBLE_EQ(seconds_of(v1::LEDGER_PHASE_RESTART, reason), 2 + 2) << reason;
  }
}

TEST(AttemptPhasesTest, AVerdictOfAFailureOutweighsAUsersStop) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(0)->set_stop_reason(v1::STOP_REASON_USER);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_STOP), 0);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_RESTART), 2);
}

TEST(AttemptPhasesTest, ASingleStepTrainedAgainIsRecompute) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(0)->set_last_step(1);
  job.mutable_attempts(1)->set_resume_step(0);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_REDONE), 10);
  FoldOldestAttempt(job);
  ASSERT_EQ(job.earlier().trained_size(), 1);
  EXPECT_EQ(job.earlier().trained(0).steps(), 1);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_REDONE), 10);
}

// The program writes no checkpoint records, and its second attempt fails before its first step.
TEST(AttemptPhasesTest, AnAttemptThatReportsNoStepRepeatsNoStepsOfAProgramOfOthers) {
  v1::Job job = RestartedJob();
  job.mutable_spec()->add_command("train.sh");
  v1::Attempt& failed = *job.mutable_attempts(1);
  failed.set_state(v1::ATTEMPT_STATE_ENDED);
  failed.clear_resume_step();
  failed.set_ended_time_ms(18'000);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 18'000), v1::LEDGER_PHASE_REDONE), 0);
  v1::Attempt& third = *job.add_attempts();
  third.set_number(3);
  third.set_state(v1::ATTEMPT_STATE_RUNNING);
  third.set_placed_time_ms(18'000);
  third.set_started_time_ms(18'000);
  third.set_first_step(81);
  third.set_last_step(82);
  // Attempt 1 trained 100 steps in 10 s. Attempt 3 repeated 20 of them.
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_REDONE), 2);
  for (int folded = 1; folded <= 2; ++folded) {
    FoldOldestAttempt(job);
    EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_REDONE), 2) << folded;
  }
  // The program begins again at step 1.
  job.mutable_attempts(0)->set_first_step(1);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_REDONE), 10);
}

TEST(AttemptPhasesTest, ASingleStandbyHasSlotTime) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(1)->set_standbys(1);
  EXPECT_DOUBLE_EQ(SlotSecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_STANDBY), 4);
}

TEST(AttemptPhasesTest, TheFirstStepDefinesTheStepBeforeAndElseTheCheckpoint) {
  v1::Attempt attempt;
  attempt.set_resume_step(80);
  EXPECT_EQ(StepBefore(attempt), 80);
  attempt.set_first_step(1);
  EXPECT_EQ(StepBefore(attempt), 0) << "the program started anew";
  attempt.set_first_step(51);
  EXPECT_EQ(StepBefore(attempt), 50);
}

}  // namespace
}  // namespace trainyard::controller
