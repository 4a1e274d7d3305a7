// Tests that the phases of the ledger add up, for random jobs and for long histories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/ledger/ledger.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

// Returns a job with times, steps and statistics from `any`, which are in random order.
v1::Job AnyJob(const std::function<Timestamp()>& any) {
  // Returns 0, which means unset, in one third of the calls.
  const auto sometimes = [&] { return any() % 3 == 0 ? 0 : any(); };
  v1::Job job;
  job.set_submitted_time_ms(500);
  job.set_state(static_cast<v1::JobState>(1 + any() % 8));
  job.mutable_spec()->mutable_resources()->set_nodes(static_cast<int>(1 + any() % 7));
  job.mutable_spec()->mutable_resources()->set_slots_per_node(static_cast<int>(1 + any() % 9));
  if (any() % 2 == 0) job.set_ended_time_ms(500 + any());
  // The number 50 means that the 49 preceding attempts are no longer stored.
  const int64_t attempt_number = any() % 5 == 0 ? 50 : 1;
  const auto attempts = static_cast<int>(any() % 5);
  for (int i = 0; i < attempts; ++i) {
    v1::Attempt& attempt = *job.add_attempts();
    attempt.set_number(attempt_number + i);
    attempt.set_placed_time_ms(any());
    attempt.set_started_time_ms(sometimes());
    attempt.set_stopping_time_ms(sometimes());
    attempt.set_ended_time_ms(sometimes());
    if (any() % 2 == 0) attempt.mutable_verdict()->set_time_ms(any());
    if (any() % 2 == 0) attempt.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_STOPPED);
    attempt.set_resume_step(sometimes());
    attempt.set_last_step(sometimes());
    v1::TimeUse& use = *attempt.mutable_time_use();
    use.set_init_ms(sometimes());
    use.set_load_ms(sometimes());
    use.set_data_stall_ms(sometimes());
    use.set_checkpoint_ms(sometimes());
    use.set_evaluation_ms(sometimes());
    use.set_stalled_since_ms(sometimes());
    use.set_stalled_ms(sometimes());
    use.set_diverged_ms(sometimes());
    use.set_slow_ms(sometimes());
    use.set_unsaved_steps(sometimes());
  }
  return job;
}

// Whatever the nodes' clocks and the ranks' statistics report, every millisecond of the job must be
// in exactly one phase. Each millisecond must count for all slots of the job, except while the job
// was queued.
TEST(LedgerSumsTest, PhasesAddUpWhateverClocksAndRanksReport) {
  std::mt19937 random(7);
  std::uniform_int_distribution<Timestamp> any(0, 2000);
  std::set<v1::LedgerPhase> seen;
  for (int round = 0; round < 20'000; ++round) {
    const v1::Job job = AnyJob([&] { return any(random); });
    const v1::Ledger ledger = LedgerOf(job, 3000);
    const int64_t wall_ms = (job.ended_time_ms() == 0 ? 3000 : job.ended_time_ms()) - 500;
    const int slots = job.spec().resources().nodes() * job.spec().resources().slots_per_node();
    int64_t sum_ms = 0, slots_ms = 0, held_ms = 0;
    for (const v1::PhaseTime& time : ledger.phases()) {
      seen.insert(time.phase());
      ASSERT_GT(time.seconds(), 0) << job.DebugString();
      sum_ms += std::llround(time.seconds() * 1000);
      slots_ms += std::llround(time.slot_seconds() * 1000);
      if (time.phase() != v1::LEDGER_PHASE_QUEUED) held_ms += std::llround(time.seconds() * 1000);
    }
    ASSERT_EQ(sum_ms, wall_ms) << job.DebugString();
    ASSERT_EQ(slots_ms, held_ms * slots) << job.DebugString();
    Timestamp at = 500;
    for (const v1::LedgerSpan& span : ledger.spans()) {
      ASSERT_EQ(span.begin_ms(), at) << job.DebugString();
      at = span.end_ms();
    }
  }
  EXPECT_EQ(seen.size(), 15u) << "every phase must have come up";
}

std::map<v1::LedgerPhase, double> PhasesOf(const v1::Ledger& ledger) {
  std::map<v1::LedgerPhase, double> phases;
  for (const v1::PhaseTime& time : ledger.phases()) phases[time.phase()] = time.seconds();
  return phases;
}

// Folding attempts out of the list must not change any sum. The reference is the ledger computed
// from all attempts. Clocks and steps may have any values. Every attempt except the last must have
// ended.
TEST(LedgerSumsTest, FoldedAttemptsKeepEverySum) {
  std::mt19937 random(11);
  std::uniform_int_distribution<Timestamp> any(0, 2000);
  for (int round = 0; round < 20'000; ++round) {
    v1::Job job = AnyJob([&] { return any(random); });
    for (int i = 0; i + 1 < job.attempts_size(); ++i) {
      v1::Attempt& attempt = *job.mutable_attempts(i);
      if (attempt.ended_time_ms() == 0) attempt.set_ended_time_ms(1 + any(random));
    }
    const auto all = PhasesOf(LedgerOf(job, 3000));
    // A controller never records the end of a job before the ends of the job's attempts.
    while (job.ended_time_ms() == 0 && job.attempts_size() > 1) {
      FoldOldestAttempt(job);
      ASSERT_EQ(PhasesOf(LedgerOf(job, 3000)), all) << job.DebugString();
    }
  }
}

// The history of a job whose attempts fail one after the other. Events are applied one by one.
class RestartingJob {
 public:
  RestartingJob() {
    cluster_.AddNode("a", 1);
    id_ = cluster_.Submit("job", 1, 1);
    at_ = cluster_.now;
  }

  // Adds an attempt of 10 s that starts at `resume_step`, trains 100 steps in 8 s and fails.
  void RunAttempt(int64_t resume_step) {
    ++number_;
    v1::JobPlaced placed;
    placed.set_resume_step(resume_step);
    placed.set_master_port(1);
    placed.add_ranks()->set_node_id("a");
    Apply(placed, &v1::Event::mutable_job_placed, 500);
    Apply(v1::AttemptRunning(), &v1::Event::mutable_attempt_running, 1000);
    Apply(v1::AttemptFailed(), &v1::Event::mutable_attempt_failed, 8000);
    v1::AttemptCleared cleared;
    cleared.set_node_id("a");
    Apply(cleared, &v1::Event::mutable_attempt_cleared, 200);
    v1::AttemptEnded ended;
    ended.set_last_step(resume_step + 100);
    ended.set_retry_not_before_ms(at_);
    ended.mutable_time_use()->set_data_stall_ms(1000);
    Apply(ended, &v1::Event::mutable_attempt_ended, 300);
    *all_.add_attempts() = *job().attempts().rbegin();
  }
  void RestoreFromSnapshot() { cluster_.state = FromSnapshot(ToSnapshot(cluster_.state, 1)); }

  const v1::Job& job() const { return cluster_.Job(id_); }
  // Returns the job with all its attempts in the list, as if none had been folded.
  v1::Job all() const {
    v1::Job all = job();
    all.clear_earlier();
    *all.mutable_attempts() = all_.attempts();
    return all;
  }
  Timestamp at() const { return at_; }

 private:
  template <typename Kind>
  void Apply(Kind kind, Kind* (v1::Event::*member)(), int64_t after_ms) {
    at_ += after_ms;
    kind.set_job_id(id_);
    kind.set_attempt(number_);
    v1::Event event;
    event.set_time_ms(at_);
    *(event.*member)() = std::move(kind);
    controller::Apply(event, cluster_.state);
  }

  TestCluster cluster_;
  int64_t id_ = 0;
  int64_t number_ = 0;
  Timestamp at_ = 0;
  v1::Job all_;
};

TEST(LedgerSumsTest, FiveHundredAttemptsAreCountedToTheMillisecond) {
  RestartingJob history;
  int64_t kept = 0;
  for (int64_t i = 0; i < 500; ++i) {
    // Each attempt contributes 80 steps that are not trained again. Two attempts resume from a much
    // earlier step, trained before the first attempt that is still listed.
    const int64_t fallback = i == 350 ? 200 * 80 : i == 450 ? 120 * 80 : 0;
    kept -= fallback;
    history.RunAttempt(kept);
    kept += 80;
    if (i % 50 == 7) history.RestoreFromSnapshot();
  }
  ASSERT_EQ(history.job().attempts_size(), kAttemptsKept);
  EXPECT_LE(history.job().earlier().trained_size(), 256);
  const v1::Ledger folded = LedgerOf(history.job(), history.at() + 700);
  const v1::Ledger all = LedgerOf(history.all(), history.at() + 700);
  EXPECT_EQ(PhasesOf(folded), PhasesOf(all));
  EXPECT_DOUBLE_EQ(folded.goodput_ratio(), all.goodput_ratio());
  EXPECT_DOUBLE_EQ(SecondsOf(folded, v1::LEDGER_PHASE_UNSPECIFIED), 0);
  EXPECT_DOUBLE_EQ(SecondsOf(folded, v1::LEDGER_PHASE_DATA_STALL), 500);
  double sum = 0;
  for (const v1::PhaseTime& time : folded.phases()) sum += time.seconds();
  EXPECT_NEAR(sum, folded.wall_seconds(), 1e-6);
}

// The state keeps at most 256 records of unlisted attempts, so the four oldest records are joined
// into one record. The last attempt resumes in the middle of the joined record.
TEST(LedgerSumsTest, AFallbackIntoJoinedAttemptsKeepsOnlyTheStepsBeforeIt) {
  RestartingJob history;
  for (int64_t i = 0; i < kAttemptsKept + 258; ++i) history.RunAttempt(80 * i);
  history.RunAttempt(2 * 80);
  ASSERT_EQ(history.job().attempts_size(), kAttemptsKept);
  ASSERT_EQ(history.job().earlier().trained_size(), 256);
  const v1::Ledger folded = LedgerOf(history.job(), history.at());
  EXPECT_DOUBLE_EQ(SecondsOf(folded, v1::LEDGER_PHASE_TRAIN), 2 * 5.6 + 7);
  EXPECT_EQ(PhasesOf(folded), PhasesOf(LedgerOf(history.all(), history.at())));
}

}  // namespace
}  // namespace trainyard::controller
