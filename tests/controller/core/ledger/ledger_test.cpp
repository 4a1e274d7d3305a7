#include "controller/core/ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/controller/core/ledger/restarted_job.h"

namespace trainyard::controller {
namespace {

TEST(LedgerTest, EveryMomentIsInOnePhase) {
  const v1::Ledger ledger = LedgerOf(RestartedJob(), 20'000);
  EXPECT_DOUBLE_EQ(ledger.wall_seconds(), 19);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_QUEUED), 2);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_INIT), 2);
  // Attempt 1 trained 100 steps in 10 s. Attempt 2 trained 20 of these steps again, so 8 s of
  // attempt 1 count. Attempt 2 has trained for 3 s so far.
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 8 + 3);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_REDONE), 2);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_RESTART), 2);
  double sum = 0;
  for (const v1::PhaseTime& time : ledger.phases()) sum += time.seconds();
  EXPECT_DOUBLE_EQ(sum, ledger.wall_seconds());
  // The 2 s in which the job was queued do not count, because it held no slots.
  EXPECT_NEAR(ledger.goodput_ratio(), 11.0 / 17, 1e-9);
  // Training, on 8 slots, is the largest phase and therefore first.
  EXPECT_DOUBLE_EQ(ledger.phases(0).slot_seconds(), 11 * 8);
}

TEST(LedgerTest, SpansFollowEachOtherAndTheLastGoesOn) {
  const v1::Ledger ledger = LedgerOf(RestartedJob(), 20'000);
  for (int i = 1; i < ledger.spans_size(); ++i) {
    EXPECT_EQ(ledger.spans(i).begin_ms(), ledger.spans(i - 1).end_ms());
  }
  EXPECT_EQ(ledger.spans().rbegin()->end_ms(), 0);  // The span is still open.
}

TEST(LedgerTest, AnAttemptOnFewerNodesHoldsFewerSlots) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(1)->mutable_layout()->set_nodes(1);
  job.mutable_attempts(1)->mutable_layout()->set_slots_per_node(4);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SlotSecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 8 * 8 + 3 * 4);
  FoldOldestAttempt(job);
  EXPECT_DOUBLE_EQ(SlotSecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_TRAIN), 8 * 8 + 3 * 4);
}

TEST(LedgerTest, AFoldedAttemptOnFewerNodesHeldFewerSlots) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(0)->mutable_layout()->set_nodes(1);
  job.mutable_attempts(0)->mutable_layout()->set_slots_per_node(4);
  FoldOldestAttempt(job);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SlotSecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 8 * 4 + 3 * 8);
  EXPECT_DOUBLE_EQ(SlotSecondsOf(ledger, v1::LEDGER_PHASE_REDONE), 2 * 4);
}

TEST(LedgerTest, EachSpanNamesItsAttempt) {
  const v1::Ledger ledger = LedgerOf(RestartedJob(), 20'000);
  std::vector<std::pair<v1::LedgerPhase, int64_t>> spans;
  for (const v1::LedgerSpan& span : ledger.spans()) {
    EXPECT_GT(span.begin_ms(), 0);
    spans.emplace_back(span.phase(), span.attempt());
  }
  const std::vector<std::pair<v1::LedgerPhase, int64_t>> expected = {
      {v1::LEDGER_PHASE_QUEUED, 0}, {v1::LEDGER_PHASE_INIT, 1},    {v1::LEDGER_PHASE_TRAIN, 1},
      {v1::LEDGER_PHASE_REDONE, 1}, {v1::LEDGER_PHASE_RESTART, 1}, {v1::LEDGER_PHASE_RESTART, 1},
      {v1::LEDGER_PHASE_INIT, 2},   {v1::LEDGER_PHASE_TRAIN, 2}};
  EXPECT_EQ(spans, expected);
}

TEST(LedgerTest, TheNewestThousandSpansAreKept) {
  v1::Job job;
  job.set_submitted_time_ms(1000);
  for (int i = 0; i < 600; ++i) {
    v1::Attempt& attempt = *job.add_attempts();
    attempt.set_number(i + 1);
    attempt.set_placed_time_ms(2000 + 1000 * i);
    attempt.set_started_time_ms(2500 + 1000 * i);
    attempt.set_ended_time_ms(3000 + 1000 * i);
  }
  job.set_ended_time_ms(602'000);
  const v1::Ledger ledger = LedgerOf(job, 602'000);
  EXPECT_EQ(ledger.spans_size(), 1000);
  EXPECT_EQ(ledger.spans().rbegin()->end_ms(), 602'000);
  EXPECT_DOUBLE_EQ(ledger.wall_seconds(), 601);
}

TEST(LedgerTest, TimeUseThatRanksReportDividesTheTimeOfTheirAttempt) {
  v1::Job job = RestartedJob();
  v1::TimeUse& use = *job.mutable_attempts(0)->mutable_time_use();
  use.set_init_ms(500);
  use.set_load_ms(1500);
  use.set_evaluation_ms(1000);
  use.set_checkpoint_ms(2000);
  use.set_data_stall_ms(1000);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  // 2 s from placement to start, plus 0.5 s that the ranks reported.
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_INIT), 2.5);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_LOAD), 1.5);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_EVALUATION), 1);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_CHECKPOINT), 2);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_DATA_STALL), 1);
  // 4 of the 10 s remain for 100 steps. 20 of these steps were trained again.
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_REDONE), 0.8);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 3.2 + 3);
}

TEST(LedgerTest, ReportedTimeBeyondTheLengthOfTheAttemptIsIgnored) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(0)->mutable_time_use()->set_load_ms(1'000'000);
  job.mutable_attempts(0)->mutable_time_use()->set_data_stall_ms(1'000'000);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_LOAD), 10);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_DATA_STALL), 0);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 3);
}

TEST(LedgerTest, RecomputeCountsFromTheEarliestResumeStepOfLaterAttempts) {
  v1::Job job = RestartedJob();
  v1::Attempt& second = *job.mutable_attempts(1);
  second.set_ended_time_ms(18'000);
  v1::Attempt& third = *job.add_attempts();
  third.set_number(3);
  third.set_resume_step(40);
  third.set_placed_time_ms(18'500);
  third.set_started_time_ms(19'000);
  // 6 of the 10 s of training were a hang, which leaves 4 s for 100 steps. 20 of these steps were
  // trained again.
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_REDONE), 6);
}

TEST(LedgerTest, StepsAreCountedFromTheOneThatTheAttemptBeganWith) {
  v1::Job job = RestartedJob();
  v1::Attempt& second = *job.mutable_attempts(1);
  second.set_last_step(100);
  second.set_ended_time_ms(18'000);
  v1::Attempt& third = *job.add_attempts();
  third.set_number(3);
  third.set_resume_step(90);
  third.set_placed_time_ms(18'000);
  // 20 of 100 steps in 10 s were trained again, and 10 of 20 steps in 1 s were trained again.
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_REDONE), 2 + 0.5);
}

TEST(LedgerTest, AnAttemptWithoutAStepRepeatsNone) {
  v1::Job job = RestartedJob();
  v1::Attempt& second = *job.mutable_attempts(1);
  second.set_last_step(80);
  second.set_ended_time_ms(18'000);
  v1::Attempt& third = *job.add_attempts();
  third.set_number(3);
  third.set_resume_step(40);
  third.set_placed_time_ms(18'000);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_REDONE), 6);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 4 + 1);
}

TEST(LedgerTest, StallBeforeTheVerdictIsAHang) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(0)->mutable_time_use()->set_stalled_since_ms(8000);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  // The job stalled from 8 s until the failure at 14 s. A fifth of the 4 s of training before the
  // stall was trained again.
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_STALLED), 6);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_REDONE), 0.8);
}

TEST(LedgerTest, StallsThatEndedAreHangs) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(0)->mutable_time_use()->set_stalled_ms(3000);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_STALLED), 3);
  // A fifth of the other 7 s was trained again.
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_REDONE), 1.4);
}

// A rank of attempt 1 died at 8 s. The heal began at 8.5 s and ended at 10 s. The 4 standbys waited
// for 5.5 s, until the heal began. Two standbys were not used and waited until the end of the
// attempt.
TEST(LedgerTest, AHealIsAPhaseAndStandbysHaveSlotTimeOnly) {
  v1::Job job = RestartedJob();
  v1::Attempt& first = *job.mutable_attempts(0);
  first.set_standbys(4);
  v1::Heal& heal = *first.add_heals();
  heal.set_began_ms(8500);
  heal.mutable_verdict()->set_time_ms(8000);
  heal.add_seats();
  heal.add_seats()->set_place(1);
  heal.set_healed_ms(10'000);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_HEAL), 2);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_STANDBY), 0);
  double sum = 0, standby = 0;
  for (const v1::PhaseTime& time : ledger.phases()) {
    sum += time.seconds();
    if (time.phase() == v1::LEDGER_PHASE_STANDBY) standby += time.slot_seconds();
  }
  EXPECT_DOUBLE_EQ(sum, ledger.wall_seconds());
  EXPECT_DOUBLE_EQ(standby, 4 * 5.5 + 2 * 6.5);
  double reported = 0;
  const v1::JobTime time = JobTimeOf(job, 20'000);
  for (const v1::JobTimeSpan& span : time.spans()) {
    if (span.phase() == v1::LEDGER_PHASE_STANDBY) reported += static_cast<double>(span.slot_ms());
  }
  EXPECT_DOUBLE_EQ(reported, 1000 * standby);
  FoldOldestAttempt(job);
  double folded = 0;
  for (const v1::PhaseSum& phase : job.earlier().phases()) {
    if (phase.phase() == v1::LEDGER_PHASE_STANDBY) folded += static_cast<double>(phase.slot_ms());
  }
  EXPECT_DOUBLE_EQ(folded, 1000 * standby);
}

TEST(LedgerTest, TheTimeOfAJobWithoutSparesHasNoStandbySpan) {
  const v1::JobTime time = JobTimeOf(RestartedJob(), 20'000);
  EXPECT_EQ(time.submitted_time_ms(), 1000);
  for (const v1::JobTimeSpan& span : time.spans()) {
    EXPECT_NE(span.phase(), v1::LEDGER_PHASE_STANDBY);
  }
}

// Attempt 1 trained 125 steps to reach step 100. Only 80 of these steps count, because attempt 2
// trained 20 steps again.
TEST(LedgerTest, StepsTrainedAgainInPlaceAreRecompute) {
  v1::Job job = RestartedJob();
  v1::Heal& heal = *job.mutable_attempts(0)->add_heals();
  heal.set_began_ms(8000);
  heal.set_healed_ms(8000);
  heal.set_lost_steps(25);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_REDONE), 10 * 45.0 / 125);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 10 * 80.0 / 125 + 3);
  FoldOldestAttempt(job);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_REDONE), 10 * 45.0 / 125);
}

TEST(LedgerTest, AGangThatHealsNowIsInThatPhase) {
  v1::Job job = RestartedJob();
  v1::Heal& heal = *job.mutable_attempts(1)->add_heals();
  heal.set_began_ms(18'000);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_HEAL), 2);
}

TEST(LedgerTest, HealsInARowAreOneStretch) {
  v1::Job job = RestartedJob();
  v1::Attempt& first = *job.mutable_attempts(0);
  v1::Heal& in_vain = *first.add_heals();
  in_vain.mutable_verdict()->set_time_ms(8000);
  in_vain.set_began_ms(8500);
  v1::Heal& second = *first.add_heals();
  second.mutable_verdict()->set_time_ms(9000);
  second.set_began_ms(9500);
  second.set_healed_ms(11'000);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_HEAL), 3);
}

TEST(LedgerTest, TimeFromAUsersStopToTheEndIsNoTraining) {
  v1::Job job = RestartedJob();
  v1::Attempt& attempt = *job.mutable_attempts(1);
  attempt.set_state(v1::ATTEMPT_STATE_STOPPING);
  attempt.set_stop_reason(v1::STOP_REASON_USER);
  attempt.set_stopping_time_ms(18'000);
  job.set_state(v1::JOB_STATE_STOPPING);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_STOP), 2);
  attempt.set_state(v1::ATTEMPT_STATE_ENDED);
  attempt.set_ended_time_ms(19'000);
  attempt.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_STOPPED);
  attempt.mutable_verdict()->set_time_ms(19'000);
  job.set_state(v1::JOB_STATE_STOPPED);
  job.set_ended_time_ms(19'000);
  const v1::Ledger ledger = LedgerOf(job, 30'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_STOP), 1);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 8 + 1);
}

// Older releases kept no record of dropped attempts.
TEST(LedgerTest, TimeOfDroppedAttemptsIsUnspecified) {
  v1::Job job = RestartedJob();
  job.mutable_attempts()->DeleteSubrange(0, 1);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_UNSPECIFIED), 15);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_QUEUED), 0);
}

TEST(LedgerTest, SumsOfOlderReleasesCountForTheSlotsOfTheSpec) {
  v1::Job job = RestartedJob();
  job.clear_attempts();
  job.set_ended_time_ms(5000);
  job.mutable_earlier()->set_until_ms(5000);
  job.mutable_earlier()->set_newest_attempt(3);
  v1::PhaseSum& queued = *job.mutable_earlier()->add_phases();
  queued.set_phase(v1::LEDGER_PHASE_QUEUED);
  queued.set_length_ms(1000);
  v1::PhaseSum& restart = *job.mutable_earlier()->add_phases();
  restart.set_phase(v1::LEDGER_PHASE_RESTART);
  restart.set_length_ms(3000);
  const v1::Ledger ledger = LedgerOf(job, 5000);
  EXPECT_DOUBLE_EQ(SlotSecondsOf(ledger, v1::LEDGER_PHASE_RESTART), 3 * 8);
  EXPECT_DOUBLE_EQ(SlotSecondsOf(ledger, v1::LEDGER_PHASE_QUEUED), 0);
}

TEST(LedgerTest, AFoldedPhaseOfOneMillisecondIsKept) {
  v1::Job job = RestartedJob();
  job.set_submitted_time_ms(2999);
  FoldOldestAttempt(job);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_QUEUED), 0.001);
}

TEST(LedgerTest, AFoldedAttemptWithoutTrainingTimeLeavesNoSteps) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(0)->mutable_time_use()->set_load_ms(1'000'000);
  FoldOldestAttempt(job);
  EXPECT_EQ(job.earlier().trained_size(), 0);
}

TEST(LedgerTest, AJobThatNeverRanWasQueuedOnly) {
  v1::Job job;
  job.set_submitted_time_ms(1000);
  job.set_ended_time_ms(3000);
  const v1::Ledger ledger = LedgerOf(job, 9000);
  EXPECT_EQ(ledger.phases_size(), 1);
  EXPECT_DOUBLE_EQ(ledger.wall_seconds(), 2);
  EXPECT_EQ(ledger.goodput_ratio(), 0);
  ASSERT_EQ(ledger.spans_size(), 1);
  EXPECT_EQ(ledger.spans(0).phase(), v1::LEDGER_PHASE_QUEUED);
  EXPECT_EQ(ledger.spans(0).attempt(), 0);
}

// Attempt 1 trained for 10 s. 1 s was lost to a slow pace, and 4 s were lost while the run
// diverged. A fifth of the other 5 s was trained again.
TEST(LedgerTest, SlowAndDivergingTimeDoesNotCountAsTraining) {
  v1::Job job = RestartedJob();
  v1::TimeUse& use = *job.mutable_attempts(0)->mutable_time_use();
  use.set_slow_ms(1000);
  use.set_diverged_ms(4000);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_SLOW), 1);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_DIVERGING), 4);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_REDONE), 1);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 4 + 3);
}

// A rank's report cannot reduce the times that the controller measured.
TEST(LedgerTest, AReportOfARankTakesNoTimeFromSlowAndDiverging) {
  v1::Job job = RestartedJob();
  v1::TimeUse& use = *job.mutable_attempts(0)->mutable_time_use();
  use.set_slow_ms(1000);
  use.set_diverged_ms(4000);
  use.set_init_ms(1'000'000);
  use.set_data_stall_ms(1'000'000);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_SLOW), 1);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_DIVERGING), 4);
}

// The newest attempt has lost its steps. Steps of earlier attempts were saved or are redone.
TEST(LedgerTest, StepsWithoutACheckpointAreUnsavedInTheNewestAttempt) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(0)->mutable_time_use()->set_unsaved_steps(20);
  v1::Attempt& newest = *job.mutable_attempts(1);
  newest.set_last_step(StepBefore(newest) + 30);
  newest.mutable_time_use()->set_unsaved_steps(10);
  const v1::Ledger ledger = LedgerOf(job, 20'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_UNSAVED), 1) << "a third of 3 s";
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 8 + 2);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_REDONE), 2);
  newest.mutable_time_use()->set_unsaved_steps(1'000'000);
  EXPECT_DOUBLE_EQ(SecondsOf(LedgerOf(job, 20'000), v1::LEDGER_PHASE_UNSAVED), 3);
}

}  // namespace
}  // namespace trainyard::controller
