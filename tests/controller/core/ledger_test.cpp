#include "controller/core/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/support/job_spec_json.h"

namespace trainyard::controller {
namespace {

v1::Job RestartedJob() {
  v1::Job job;
  job.set_submitted_time_ms(1000);
  job.mutable_spec()->mutable_resources()->set_nodes(2);
  job.mutable_spec()->mutable_resources()->set_slots_per_node(4);
  v1::Attempt& first = *job.add_attempts();
  first.set_epoch(1);
  first.set_state(v1::ATTEMPT_STATE_ENDED);
  first.set_placed_time_ms(3000);
  first.set_started_time_ms(4000);
  first.set_last_step(100);
  first.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_RANK_EXITED);
  first.mutable_verdict()->set_time_ms(14'000);
  first.set_ended_time_ms(15'000);
  v1::Attempt& second = *job.add_attempts();
  second.set_epoch(2);
  second.set_state(v1::ATTEMPT_STATE_RUNNING);
  second.set_resume_step(80);
  second.set_placed_time_ms(16'000);
  second.set_started_time_ms(17'000);
  return job;
}

double SecondsOf(const v1::Ledger& ledger, v1::LedgerPhase phase) {
  for (const v1::PhaseTime& time : ledger.phases()) {
    if (time.phase() == phase) return time.seconds();
  }
  return 0;
}

TEST(LedgerTest, EveryMomentIsInOnePhase) {
  const v1::Ledger ledger = LedgerOf(RestartedJob(), 20'000);
  EXPECT_DOUBLE_EQ(ledger.wall_seconds(), 19);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_QUEUED), 2);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_INIT), 2);
  // 20 of 100 steps were trained again.
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 8 + 3);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_RECOMPUTE), 2);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_RESTART), 2);
  double sum = 0;
  for (const v1::PhaseTime& time : ledger.phases()) sum += time.seconds();
  EXPECT_DOUBLE_EQ(sum, ledger.wall_seconds());
  EXPECT_NEAR(ledger.goodput_ratio(), 11.0 / 17, 1e-9);
  EXPECT_DOUBLE_EQ(ledger.phases(0).slot_seconds(), 11 * 8);
}

TEST(LedgerTest, SpansFollowEachOtherAndTheLastGoesOn) {
  const v1::Ledger ledger = LedgerOf(RestartedJob(), 20'000);
  for (int i = 1; i < ledger.spans_size(); ++i) {
    EXPECT_EQ(ledger.spans(i).begin_ms(), ledger.spans(i - 1).end_ms());
  }
  EXPECT_EQ(ledger.spans().rbegin()->end_ms(), 0);
}

TEST(LedgerTest, AJobThatNeverRanWasQueuedOnly) {
  v1::Job job;
  job.set_submitted_time_ms(1000);
  job.set_ended_time_ms(3000);
  const v1::Ledger ledger = LedgerOf(job, 9000);
  EXPECT_EQ(ledger.phases_size(), 1);
  EXPECT_DOUBLE_EQ(ledger.wall_seconds(), 2);
  EXPECT_EQ(ledger.goodput_ratio(), 0);
}

}  // namespace
}  // namespace trainyard::controller
