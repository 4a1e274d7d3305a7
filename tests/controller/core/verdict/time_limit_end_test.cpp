#include "controller/core/verdict/time_limit_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/explain.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/state/attempts/time_limit.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kSavedAtLimit = 143;
constexpr int64_t kLimitMs = 100'000;

class TimeLimitEndTest : public testing::Test {
 protected:
  TimeLimitEndTest() { cluster_.AddNode("a", 2); }

  // A job with a time limit of 100 s.
  static v1::JobSpec SpecOf(const std::string& name) {
    v1::JobSpec spec = TestSpec(name, 1, 2);
    spec.mutable_stop_grace()->set_seconds(60);
    spec.mutable_time_limit()->set_seconds(kLimitMs / 1000);
    return spec;
  }
  static v1::JobSpec RequeuedSpec() {
    v1::JobSpec spec = SpecOf("job");
    spec.set_at_time_limit(v1::AT_TIME_LIMIT_REQUEUE);
    return spec;
  }
  static v1::JobSpec WarnedSpec() {
    v1::JobSpec spec = SpecOf("job");
    spec.set_time_limit_signal("USR1");
    spec.mutable_time_limit_warning()->set_seconds(30);
    return spec;
  }

  int64_t RunJob(const v1::JobSpec& spec) {
    const int64_t job = cluster_.Submit(spec);
    Continue(job);
    return job;
  }

  // Runs the next attempt of the job.
  void Continue(int64_t job) {
    cluster_.RunJob(job);
    cluster_.ReportRunning("a", job, 2);
  }

  // Lets the ranks exit. The worker forgets the attempt and reports so.
  void LetItLeave(int64_t job, int exit_code = kSavedAtLimit) {
    cluster_.ExitAll(job, exit_code);
    cluster_.ClearAll(job);
    cluster_.ForgetReport("a", job);
    cluster_.Pass(1, 1);
  }

  // Passes the time up to `ms` after the placement of the newest attempt.
  std::vector<v1::Event> PassUntil(int64_t job, int64_t ms) {
    return cluster_.Pass(cluster_.Attempt(job).placed_time_ms() + ms - cluster_.now);
  }

  std::string Why(int64_t job) {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job)).answer();
  }

  void Extend(int64_t job, int64_t seconds) {
    ExtendJob extend;
    extend.request.set_job(std::to_string(job));
    extend.request.mutable_by()->set_seconds(seconds);
    extend.principal = {"ada"};
    cluster_.Do(extend);
  }

  void Pause(int64_t job) {
    PauseJob pause;
    pause.request.set_job(std::to_string(job));
    pause.principal = {"ada"};
    cluster_.Do(pause);
  }

  // Checks that a snapshot restores the state, as at a restart of the controller.
  void ExpectSnapshotHoldsIt() {
    const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 0));
    EXPECT_EQ(Bytes(copy), Bytes(cluster_.state));
    EXPECT_EQ(DifferentIndexes(copy, cluster_.state), "");
  }

  TestCluster cluster_;
};

TEST_F(TimeLimitEndTest, TheJobSavesAndEnds) {
  const int64_t job = RunJob(SpecOf("job"));
  EXPECT_THAT(Kinds(PassUntil(job, kLimitMs - 1)), Not(Contains("TimeLimitReached")));
  EXPECT_THAT(Why(job), HasSubstr("of its time limit of 100 s are left, then the job is ended"));
  EXPECT_THAT(Kinds(PassUntil(job, kLimitMs)), Contains("TimeLimitReached"));
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STOPPING);
  EXPECT_EQ(cluster_.Attempt(job).stop_reason(), v1::STOP_REASON_TIME_LIMIT);
  EXPECT_THAT(cluster_.Commands(), ElementsAre("stop a 1/1 60000")) << "the time to save";
  EXPECT_THAT(Why(job), HasSubstr("has reached its time limit of 100 s and waits for its ranks"));
  ExpectSnapshotHoldsIt();
  cluster_.Publish(job, 20);
  LetItLeave(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(cluster_.Job(job).verdict().cause(), v1::VERDICT_CAUSE_TIME_LIMIT);
  EXPECT_THAT(cluster_.Job(job).verdict().summary(), HasSubstr("ended by its time limit of 100 s"));
  EXPECT_EQ(FreeSlots(cluster_.state.nodes.at("a").node, v1::DEVICE_KIND_CPU), 2);
  const v1::Ledger ledger = LedgerOf(cluster_.Job(job), cluster_.now);
  EXPECT_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_RESTART), 0);
}

TEST_F(TimeLimitEndTest, AJobThatHasFinishedSucceeds) {
  const int64_t job = RunJob(SpecOf("job"));
  PassUntil(job, kLimitMs - 500);
  cluster_.ExitAll(job, 0);
  EXPECT_THAT(Kinds(PassUntil(job, kLimitMs + 1000)), Not(Contains("TimeLimitReached")));
  cluster_.ClearAll(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(TimeLimitEndTest, TheTimeOfAllAttemptsCounts) {
  const int64_t job = RunJob(SpecOf("job"));
  PassUntil(job, 60'000);
  LetItLeave(job, 1);
  cluster_.Pass(5000);
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING) << "after the backoff";
  Continue(job);
  EXPECT_THAT(Kinds(PassUntil(job, 38'000)), Not(Contains("TimeLimitReached")));
  EXPECT_THAT(Kinds(PassUntil(job, 41'000)), Contains("TimeLimitReached"));
}

TEST_F(TimeLimitEndTest, APauseDoesNotCount) {
  const int64_t job = RunJob(SpecOf("job"));
  PassUntil(job, 60'000);
  Pause(job);
  LetItLeave(job);
  cluster_.Pass(2 * kLimitMs, 1000);
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSED);
  ResumeJob resume;
  resume.request.set_job(std::to_string(job));
  resume.principal = {"ada"};
  cluster_.Do(resume);
  Continue(job);
  EXPECT_EQ(RemainingTime(cluster_.Job(job), cluster_.now), 40'000);
}

TEST_F(TimeLimitEndTest, AClockThatIsSetChangesNothing) {
  const int64_t job = RunJob(SpecOf("job"));
  PassUntil(job, 60'000);
  cluster_.StepClock(-3'600'000);
  EXPECT_EQ(RemainingTime(cluster_.Job(job), cluster_.now), 40'000);
  cluster_.StepClock(7'200'000);
  EXPECT_EQ(RemainingTime(cluster_.Job(job), cluster_.now), 40'000);
}

TEST_F(TimeLimitEndTest, AFailureAtTheLimitIsJudgedFirst) {
  const int64_t job = RunJob(SpecOf("job"));
  PassUntil(job, kLimitMs - 1000);
  cluster_.ExitRank(job, 1, 69);
  EXPECT_THAT(Kinds(PassUntil(job, kLimitMs + 500)), Not(Contains("TimeLimitReached")))
      << "the verdict on a lost peer waits for another failure";
  cluster_.Pass(3000);
  EXPECT_EQ(cluster_.Attempt(job).stop_reason(), v1::STOP_REASON_FAILED);
  LetItLeave(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STOPPED) << "no time is left for a restart";
  EXPECT_EQ(cluster_.Job(job).verdict().cause(), v1::VERDICT_CAUSE_TIME_LIMIT);
}

TEST_F(TimeLimitEndTest, AUserStopsTheJobThatEndsAtItsLimit) {
  const int64_t job = RunJob(SpecOf("job"));
  PassUntil(job, kLimitMs);
  cluster_.Stop(job, /*kill=*/true);
  EXPECT_THAT(cluster_.Commands(), ElementsAre("stop a 1/1 0"));
  LetItLeave(job);
  EXPECT_EQ(cluster_.Job(job).verdict().cause(), v1::VERDICT_CAUSE_STOPPED);
}

TEST_F(TimeLimitEndTest, ARequeuedJobReleasesItsSlotsAndContinues) {
  const int64_t job = RunJob(RequeuedSpec());
  cluster_.Publish(job, 20);
  EXPECT_THAT(Kinds(PassUntil(job, kLimitMs)), Contains("AttemptYielded"));
  EXPECT_EQ(cluster_.Attempt(job).yield().cause(), v1::YIELD_CAUSE_TIME_LIMIT);
  EXPECT_THAT(Why(job), HasSubstr("it has reached its time limit of 100 s"));
  ExpectSnapshotHoldsIt();
  cluster_.Pass(4000);
  cluster_.Publish(job, 40);
  LetItLeave(job);
  ExpectSnapshotHoldsIt();
  EXPECT_EQ(cluster_.Job(job).time_limit_use().requeues(), 1);
  EXPECT_EQ(cluster_.Job(job).time_limit_use().start_step(), 40);
  EXPECT_EQ(cluster_.Job(job).restarts(), 0);
  Continue(job);
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Attempt(job).resume_step(), 40);
  EXPECT_EQ(RemainingTime(cluster_.Job(job), cluster_.now), kLimitMs) << "a new period";
}

TEST_F(TimeLimitEndTest, AJobThatSavesNothingIsNotRequeuedForever) {
  const int64_t job = RunJob(RequeuedSpec());
  cluster_.Publish(job, 20);
  PassUntil(job, kLimitMs);
  LetItLeave(job);
  Continue(job);
  PassUntil(job, kLimitMs);
  LetItLeave(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(cluster_.Job(job).verdict().cause(), v1::VERDICT_CAUSE_TIME_LIMIT);
  EXPECT_THAT(
      cluster_.Job(job).verdict().summary(),
      HasSubstr("it is not queued again, because it has saved no checkpoint since step 20"));
}

TEST_F(TimeLimitEndTest, AJobThatReportsNothingIsRequeuedABoundedNumberOfTimes) {
  v1::JobSpec spec = RequeuedSpec();
  spec.mutable_time_limit()->set_seconds(2);
  const int64_t job = RunJob(spec);
  for (int i = 0; i < kMostBlindRequeues; ++i) {
    PassUntil(job, 2000);
    LetItLeave(job);
    ASSERT_NE(cluster_.StateOf(job), v1::JOB_STATE_STOPPED) << i;
    Continue(job);
  }
  PassUntil(job, 2000);
  LetItLeave(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STOPPED);
}

TEST_F(TimeLimitEndTest, AJobThatIsPausedDuringItsRequeueStaysPaused) {
  const int64_t job = RunJob(RequeuedSpec());
  PassUntil(job, kLimitMs);
  Pause(job);
  LetItLeave(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSED);
  EXPECT_EQ(RemainingTime(cluster_.Job(job), cluster_.now), kLimitMs);
  ExpectSnapshotHoldsIt();
}

TEST_F(TimeLimitEndTest, EachRankIsWarnedOnce) {
  const int64_t job = RunJob(WarnedSpec());
  EXPECT_THAT(Kinds(PassUntil(job, 69'000)), Not(Contains("TimeLimitWarned")));
  EXPECT_THAT(Kinds(PassUntil(job, 70'000)), Contains("TimeLimitWarned"));
  EXPECT_THAT(cluster_.Commands(), ElementsAre("warn a 1/1 1 USR1"));
  ExpectSnapshotHoldsIt();
  cluster_.Report("a", job).mutable_ranks(0)->set_warning(1);
  cluster_.Pass(500);
  EXPECT_THAT(cluster_.Commands(), ElementsAre("warn a 1/1 1 USR1")) << "rank 1 has none";
  cluster_.Report("a", job).mutable_ranks(1)->set_warning(1);
  EXPECT_THAT(Kinds(cluster_.Pass(5000)), Not(Contains("TimeLimitWarned")));
  EXPECT_THAT(cluster_.Commands(), IsEmpty());
}

TEST_F(TimeLimitEndTest, AProgramThatTheWarningEndsIsNotRestarted) {
  const int64_t job = RunJob(WarnedSpec());
  PassUntil(job, 71'000);
  ASSERT_TRUE(cluster_.Attempt(job).time_limit_warnings().current());
  v1::RankExited exited;
  exited.set_signal(10);
  cluster_.Exit(job, exited);
  cluster_.Pass(3000);
  LetItLeave(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_FAILED);
  EXPECT_THAT(cluster_.Job(job).verdict().summary(),
              HasSubstr("SIGUSR1 is the warning before the time limit, and the program has no "
                        "handler for it"));
}

TEST_F(TimeLimitEndTest, AnExtensionMovesTheLimitAndTheWarning) {
  const int64_t job = RunJob(WarnedSpec());
  PassUntil(job, 80'000);
  Extend(job, 100);
  cluster_.Report("a", job).mutable_ranks(0)->set_warning(1);
  cluster_.Report("a", job).mutable_ranks(1)->set_warning(1);
  EXPECT_THAT(Kinds(PassUntil(job, 160'000)), Not(Contains("TimeLimitReached")));
  EXPECT_THAT(cluster_.Commands(), IsEmpty());
  EXPECT_THAT(Kinds(PassUntil(job, 175'000)), Contains("TimeLimitWarned"));
  EXPECT_THAT(cluster_.Commands(), ElementsAre("warn a 1/1 2 USR1"));
  EXPECT_THAT(Kinds(PassUntil(job, 200'000)), Contains("TimeLimitReached"));
  LetItLeave(job);
  EXPECT_THAT(cluster_.Job(job).verdict().summary(),
              HasSubstr("ended by its time limit of 200 s (extended by 100 s)"));
}

TEST_F(TimeLimitEndTest, RanksThatExitAfterTheWarningEndTheJobAtItsLimit) {
  v1::JobSpec spec = WarnedSpec();
  spec.mutable_train()->set_steps(100);
  const int64_t job = RunJob(spec);
  cluster_.Step(job, 0, 50, 1);
  PassUntil(job, 75'000);
  LetItLeave(job, 0);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(cluster_.Job(job).verdict().cause(), v1::VERDICT_CAUSE_TIME_LIMIT);
}

TEST_F(TimeLimitEndTest, ARunThatIsCompleteAfterTheWarningSucceeds) {
  v1::JobSpec spec = WarnedSpec();
  spec.mutable_train()->set_steps(100);
  const int64_t job = RunJob(spec);
  PassUntil(job, 75'000);
  cluster_.Step(job, 0, 100, 1);
  LetItLeave(job, 0);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_SUCCEEDED);
}

}  // namespace
}  // namespace trainyard::controller
