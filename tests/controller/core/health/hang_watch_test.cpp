#include "controller/core/health/hang_watch.h"

#include <functional>

#include "controller/core/explain/explain.h"
#include "controller/core/health/gang_limit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A gang with two ranks on each of two nodes. Workers report the ranks as set by Say.
class HangWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // A time so large that no reported time without a step reaches back before time 0.
    cluster_.now += 100'000'000;
    cluster_.observations.since_ms = cluster_.now;
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 2);
    cluster_.measures = false;
  }

  void Run(const std::function<void(v1::WatchdogSpec&)>& change = [](v1::WatchdogSpec&) {}) {
    v1::JobSpec spec = TestSpec("job", 2, 2);
    v1::WatchdogSpec& watchdog = *spec.mutable_watchdog();
    watchdog.set_action(v1::WATCHDOG_ACTION_RESTART);
    watchdog.mutable_min_stall()->set_seconds(15);
    watchdog.set_factor(3);
    change(watchdog);
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
    for (const int rank : {0, 1, 2, 3}) Say(rank, "train", 100, 0);
    cluster_.Pass(5000);
  }

  v1::RankReport& Rank(int rank) {
    v1::AttemptReport& report = cluster_.Report(rank < 2 ? "a" : "b", job_);
    while (report.ranks_size() < 2) {
      report.add_ranks()->set_rank(report.ranks_size() - 1 + (rank < 2 ? 0 : 2));
    }
    return *report.mutable_ranks(rank % 2);
  }
  void Say(int rank, const std::string& phase, int64_t step, int64_t still_ms) {
    Rank(rank).set_rank(rank);
    Rank(rank).set_running(true);
    Rank(rank).set_phase(phase);
    Rank(rank).set_step(step);
    Rank(rank).set_still_ms(still_ms);
    Rank(rank).set_slow_step_ms(slow_step_ms_);
  }
  // Sets two times: since the gang's newest progress (of rank 1), and since the gang's newest
  // output.
  void Still(int64_t ms) { StillAndQuiet(ms, ms); }
  void StillAndQuiet(int64_t still_ms, int64_t quiet_ms) {
    for (const int rank : {0, 1, 2, 3}) {
      Rank(rank).set_still_ms(rank == 1 ? still_ms : still_ms + 5000);
      Rank(rank).set_quiet_ms(quiet_ms);
    }
    cluster_.Pass(500);
  }

  void AddFlight(int rank, int64_t sequence, bool entered) {
    v1::FlightRecord& flight = *Rank(rank).mutable_newest()->add_flights();
    flight.set_group("dp0");
    flight.set_ranks("0-3");
    flight.set_sequence(sequence);
    flight.set_operation("all-reduce");
    if (entered) flight.set_entered_ms(1);
  }

  // The first attempt loaded for 50 s, trained and then hung. The next attempt is loading.
  void LoadAgain() {
    Run();
    Still(16'000);
    cluster_.ExitAll(job_, 143);
    cluster_.ClearAll(job_);
    v1::Attempt& first = *cluster_.state.jobs.at(job_).job.mutable_attempts(0);
    first.mutable_time_use()->set_load_ms(50'000);
    first.set_last_step(100);
    cluster_.Pass(1000);
    cluster_.StartAll(job_);
    for (const int rank : {0, 1, 2, 3}) Say(rank, "load", 0, 0);
    cluster_.Pass(5000);
  }

  bool IsStopped() const { return cluster_.Attempt(job_).has_verdict(); }
  const v1::Verdict& Verdict() const { return cluster_.Attempt(job_).verdict(); }

  TestCluster cluster_;
  int64_t slow_step_ms_ = 1000;
  int64_t job_ = 0;
};

TEST_F(HangWatchTest, AGangWithoutAStepForTooLongIsStoppedAndRestarted) {
  Run();
  Still(15'000);
  EXPECT_FALSE(IsStopped()) << "not longer than the limit";
  Still(15'001);
  ASSERT_TRUE(IsStopped());
  EXPECT_EQ(Verdict().cause(), v1::VERDICT_CAUSE_STALLED);
  EXPECT_EQ(cluster_.Attempt(job_).stop_reason(), v1::STOP_REASON_STALLED);
  EXPECT_EQ(Verdict().summary(),
            "the gang stalled: no step for 15 s after step 100 (limit 15 s); no report shows which "
            "rank is blocking the others");
  EXPECT_EQ(Verdict().rank(), -1);
  EXPECT_THAT(Verdict().ranks(), ElementsAre(0, 1, 2, 3));
  cluster_.ExitAll(job_, 143);
  cluster_.ClearAll(job_);
  cluster_.Pass(1000);
  EXPECT_EQ(cluster_.Attempt(job_).number(), 2);
  EXPECT_EQ(cluster_.Job(job_).restarts(), 1) << "a hang counts";
}

TEST_F(HangWatchTest, TheLimitFollowsTheSlowStepsOfTheGang) {
  slow_step_ms_ = 8000;
  Run();
  Still(24'000);
  EXPECT_FALSE(IsStopped());
  Still(24'001);
  EXPECT_TRUE(IsStopped());
}

TEST_F(HangWatchTest, StepTimesThatTheProgramReportsCountToo) {
  Run();
  for (int64_t step = 1; step <= 5; ++step) cluster_.Step(job_, 0, step, 9);
  Still(27'000);
  EXPECT_FALSE(IsStopped());
  Still(27'001);
  EXPECT_TRUE(IsStopped());
}

TEST_F(HangWatchTest, TheRankThatTheOthersWaitForIsNamedAndItsNodeBlamed) {
  Run();
  for (const int rank : {0, 1, 2}) AddFlight(rank, 17, true);
  for (const int rank : {0, 1, 2, 3}) Rank(rank).set_still_ms(16'000);
  const std::vector<v1::Event> events = cluster_.Pass(500);
  ASSERT_THAT(Kinds(events), ElementsAre("AttemptFailed", "NodeBlamed"));
  EXPECT_EQ(Verdict().rank(), 3);
  EXPECT_EQ(Verdict().node_id(), "b");
  EXPECT_THAT(Verdict().ranks(), ElementsAre(3));
  EXPECT_THAT(Verdict().summary(),
              HasSubstr("rank 3 has not reached all-reduce 17 of group dp0 (ranks 0-3); "
                        "ranks 0-2 are waiting for it (rank 3 on b)"));
  EXPECT_EQ(events[1].node_blamed().evidence().fault(), v1::NODE_FAULT_STALLED);
  EXPECT_EQ(events[1].node_blamed().node_id(), "b");
  EXPECT_EQ(events[1].node_blamed().evidence().rank(), 3);
}

TEST_F(HangWatchTest, ARankInAnotherPhaseIsNamed) {
  Run();
  Rank(2).set_phase("eval");
  cluster_.observations.longest_phase_ms[job_]["eval"] = 1000;
  cluster_.Pass(500);
  Still(kShortestPhaseLimitMs);
  EXPECT_FALSE(IsStopped()) << "it may evaluate for longer than a step takes";
  Still(kShortestPhaseLimitMs + 1);
  EXPECT_THAT(Verdict().ranks(), ElementsAre(2));
  EXPECT_THAT(Verdict().summary(),
              HasSubstr("rank 2 is at a different point than the other ranks: step 100, eval"));
}

TEST_F(HangWatchTest, ARankAtAnEarlierStepIsNamedWhereStepsAreLong) {
  slow_step_ms_ = 2000;
  Run();
  Rank(3).set_step(101);
  Rank(0).set_step(101);
  Rank(2).set_step(101);
  Still(16'000);
  EXPECT_THAT(Verdict().ranks(), ElementsAre(1));
}

TEST_F(HangWatchTest, PhasesWithoutAKnownLimitAreLeftAlone) {
  Run();
  for (const char* phase : {"init", "load", "checkpoint", "eval", "done", "their own"}) {
    Rank(2).set_phase(phase);
    cluster_.Pass(500);
    Still(900'000);
    EXPECT_FALSE(IsStopped()) << phase;
  }
}

TEST_F(HangWatchTest, AProgramWithoutPhasesIsWatchedOnlyByItsLongestPause) {
  Run([](v1::WatchdogSpec& watchdog) { watchdog.mutable_longest_pause()->set_seconds(60); });
  cluster_.observations.attempts.begin()->second.ranks.clear();
  for (const int rank : {0, 1, 2, 3}) Say(rank, "", 101, 0);
  cluster_.Pass(500);
  Still(60'000);
  EXPECT_FALSE(IsStopped());
  Still(60'001);
  EXPECT_TRUE(IsStopped());
}

TEST_F(HangWatchTest, StartAndSaveAreLimitedByEarlierOnes) {
  LoadAgain();
  Still(150'000);
  EXPECT_FALSE(IsStopped());
  Still(150'001);
  EXPECT_TRUE(IsStopped());
}

TEST_F(HangWatchTest, AStartFromACheckpointIsNotMeasuredByAFreshOne) {
  Run();
  Still(16'000);
  cluster_.ExitAll(job_, 143);
  cluster_.ClearAll(job_);
  v1::Job& job = cluster_.state.jobs.at(job_).job;
  job.mutable_attempts(0)->mutable_time_use()->set_init_ms(50'000);
  job.mutable_attempts(0)->set_last_step(100);
  cluster_.Pass(1000);
  job.mutable_attempts(1)->set_resume_step(100);
  cluster_.StartAll(job_);
  for (const int rank : {0, 1, 2, 3}) Say(rank, "load", 0, 0);
  cluster_.Pass(5000);
  Still(3'600'000);
  EXPECT_FALSE(IsStopped());
}

TEST_F(HangWatchTest, AStartThatWritesSomethingGoesOn) {
  LoadAgain();
  StillAndQuiet(900'000, 1000);
  EXPECT_FALSE(IsStopped());
  StillAndQuiet(900'000, 900'000);
  EXPECT_TRUE(IsStopped());
}

// The first hang may have been a long save, whose duration is unknown.
TEST_F(HangWatchTest, EachHangInARowGivesAPhaseMoreTime) {
  Run();
  cluster_.observations.longest_phase_ms[job_]["checkpoint"] = 100'000;
  for (const int rank : {0, 1, 2, 3}) Say(rank, "checkpoint", 100, 0);
  cluster_.Pass(5000);
  Still(300'001);
  ASSERT_TRUE(IsStopped());
  cluster_.ExitAll(job_, 143);
  cluster_.ClearAll(job_);
  cluster_.Pass(1000);
  cluster_.StartAll(job_);
  for (const int rank : {0, 1, 2, 3}) Say(rank, "checkpoint", 101, 0);
  cluster_.Pass(5000);
  Still(900'000);
  EXPECT_FALSE(IsStopped());
  Still(900'001);
  EXPECT_TRUE(IsStopped());
}

TEST_F(HangWatchTest, ANodeWithoutSettledReportsIsNoHang) {
  Run();
  cluster_.StopHeartbeats("b");
  cluster_.Pass(3500);
  Still(16'000);
  EXPECT_FALSE(IsStopped()) << "its ranks may train on";
  cluster_.Wake("b");
  cluster_.Pass(2500);
  EXPECT_FALSE(IsStopped()) << "reports have come for less than 3 s";
  cluster_.Pass(1000);
  EXPECT_TRUE(IsStopped());
}

TEST_F(HangWatchTest, AWorkerThatDoesNotMeasureSaysNothing) {
  Run();
  for (const int rank : {0, 1, 2, 3}) Rank(rank).set_still_ms(0);
  cluster_.Pass(120'000);
  EXPECT_FALSE(IsStopped());
}

TEST_F(HangWatchTest, WithoutAPaceTheLeaseIsTheLimit) {
  slow_step_ms_ = 0;
  Run();
  Still(cluster_.options.lease_ms);
  EXPECT_FALSE(IsStopped());
  Still(cluster_.options.lease_ms + 1);
  EXPECT_TRUE(IsStopped());
}

TEST_F(HangWatchTest, TheFirstStepsMayTakeAsLongAsTheyTake) {
  slow_step_ms_ = 0;
  Run();
  cluster_.observations.attempts.begin()->second.ranks.clear();
  for (const int rank : {0, 1, 2, 3}) Say(rank, "train", 1, 0);
  cluster_.Pass(500);
  Still(9'000'000);
  EXPECT_FALSE(IsStopped());
}

TEST_F(HangWatchTest, AGangAtItsLastStepMayTakeHalfAnHour) {
  Run();
  cluster_.observations.attempts.begin()->second.total_steps = 100;
  Still(cluster_.options.finish_lease_ms);
  EXPECT_FALSE(IsStopped());
  Still(cluster_.options.finish_lease_ms + 1);
  EXPECT_TRUE(IsStopped());
  EXPECT_THAT(Verdict().summary(), HasSubstr("no activity for 30 min after step 100"));
}

TEST_F(HangWatchTest, OutputIsASignOfLifeOfAGangAtItsLastStep) {
  Run();
  cluster_.observations.attempts.begin()->second.total_steps = 100;
  StillAndQuiet(9'000'000, 1000);
  EXPECT_FALSE(IsStopped());
}

TEST_F(HangWatchTest, AGangThatARankHasLeftIsWatched) {
  Run();
  cluster_.observations.attempts.begin()->second.total_steps = 101;
  Rank(0).set_running(false);
  cluster_.ExitRank(job_, 0, 0);
  Still(120'000);
  EXPECT_FALSE(IsStopped()) << "the others may save without a phase for it";
  Still(120'001);
  ASSERT_TRUE(IsStopped());
  EXPECT_EQ(Verdict().cause(), v1::VERDICT_CAUSE_STALLED);
  EXPECT_EQ(Verdict().rank(), 0);
  EXPECT_THAT(Verdict().summary(), HasSubstr("rank 0 exited with 0 at step 100 while ranks 1-3 "
                                             "still run (step 100, train)"));
}

// The worker cannot store the fact that the rank exited, for example on a full disk.
TEST_F(HangWatchTest, ARankWhoseExitIsNotReportedHoldsTheGangUpForTheLease) {
  Run();
  cluster_.measures = true;
  Rank(3).set_running(false);
  cluster_.Pass(cluster_.options.lease_ms);
  EXPECT_FALSE(IsStopped());
  cluster_.Pass(1000);
  EXPECT_TRUE(IsStopped());
}

// Every report comes after a pause, so reports never count as steady.
TEST_F(HangWatchTest, ANodeWhoseHeartbeatsComeSeldomHidesNoHangForEver) {
  Run();
  const auto pass = [&](int64_t still_ms) {
    for (const int rank : {0, 1, 2, 3}) Rank(rank).set_still_ms(still_ms);
    cluster_.StopHeartbeats("b");
    cluster_.Pass(3500);
    cluster_.Wake("b");
    cluster_.Pass(500);
  };
  pass(cluster_.options.lease_ms);
  EXPECT_FALSE(IsStopped());
  pass(cluster_.options.lease_ms + 10'000);
  EXPECT_TRUE(IsStopped());
}

TEST_F(HangWatchTest, AnOrderToStartThatANodeDoesNotCarryOutIsAHang) {
  job_ = cluster_.Submit([] {
    v1::JobSpec spec = TestSpec("job", 2, 2);
    spec.mutable_watchdog()->set_action(v1::WATCHDOG_ACTION_RESTART);
    return spec;
  }());
  cluster_.Settle();
  for (const int rank : {0, 1, 2}) cluster_.StartRank(job_, rank);
  cluster_.Pass(cluster_.options.start_lease_ms);
  EXPECT_FALSE(IsStopped());
  cluster_.Pass(500);
  ASSERT_TRUE(IsStopped());
  EXPECT_EQ(Verdict().cause(), v1::VERDICT_CAUSE_STALLED);
  EXPECT_EQ(Verdict().rank(), 3);
  EXPECT_EQ(Verdict().summary(),
            "the gang stalled: rank 3 has not started 2 min after the start order (rank 3 on b)");
}

TEST_F(HangWatchTest, ARankThatIsReportedToRunHasStarted) {
  job_ = cluster_.Submit([] {
    v1::JobSpec spec = TestSpec("job", 1, 1);
    spec.mutable_watchdog()->set_action(v1::WATCHDOG_ACTION_RESTART);
    return spec;
  }());
  cluster_.Settle();
  cluster_.ReportRunning("a", job_, 1);
  cluster_.Pass(1'000'000);
  EXPECT_FALSE(IsStopped()) << "the fact is on its way";
}

TEST_F(HangWatchTest, ANodeThatIsAwayDelaysTheLimitOfAStart) {
  job_ = cluster_.Submit([] {
    v1::JobSpec spec = TestSpec("job", 2, 2);
    spec.mutable_watchdog()->set_action(v1::WATCHDOG_ACTION_RESTART);
    return spec;
  }());
  cluster_.Settle();
  cluster_.Pass(100'000);
  cluster_.StopHeartbeats("b");
  cluster_.Pass(5000);
  cluster_.Wake("b");
  cluster_.Pass(120'000);
  EXPECT_FALSE(IsStopped());
  cluster_.Pass(1000);
  EXPECT_TRUE(IsStopped());
}

// The worker has seen too few steps to measure the pace, but the controller knows the step times.
TEST_F(HangWatchTest, AHangInTheFirstSecondsOfTrainingIsFound) {
  slow_step_ms_ = 0;
  Run();
  cluster_.observations.attempts.begin()->second.ranks.clear();
  for (const int rank : {0, 1, 2, 3}) Say(rank, "train", 2, 0);
  for (const int64_t step : {1, 2}) cluster_.Step(job_, 0, step, 0.5);
  cluster_.Pass(500);
  Still(15'000);
  EXPECT_FALSE(IsStopped());
  Still(15'001);
  EXPECT_TRUE(IsStopped());
}

TEST_F(HangWatchTest, AnAlertIsRaisedOnceForAStep) {
  Run([](v1::WatchdogSpec& watchdog) { watchdog.set_action(v1::WATCHDOG_ACTION_ALERT); });
  for (const int rank : {0, 1, 2, 3}) Rank(rank).set_still_ms(16'000);
  const std::vector<v1::Event> events = cluster_.Pass(5000);
  ASSERT_THAT(Kinds(events), ElementsAre("AlertRaised"));
  EXPECT_EQ(events[0].alert_raised().code(), "stalled");
  EXPECT_EQ(events[0].alert_raised().step(), 100);
  EXPECT_FALSE(IsStopped());
  for (const int rank : {0, 1, 2, 3}) Rank(rank).set_step(120);
  EXPECT_THAT(Kinds(cluster_.Pass(500)), ElementsAre("AlertRaised"));
}

TEST_F(HangWatchTest, OffIsOff) {
  Run([](v1::WatchdogSpec& watchdog) { watchdog.set_action(v1::WATCHDOG_ACTION_OFF); });
  for (const int rank : {0, 1, 2, 3}) Rank(rank).set_still_ms(900'000);
  EXPECT_THAT(cluster_.Pass(1000), IsEmpty());
}

TEST_F(HangWatchTest, TheWorkerIsAskedForTheThreadsOfTheRanksThatHung) {
  Run();
  for (const int rank : {0, 1, 2}) AddFlight(rank, 17, true);
  Still(16'000);
  std::vector<std::string> asked;
  for (const Command& command : CommandsDue(cluster_.state, cluster_.observations, cluster_.now)) {
    for (const int rank : command.message.stop_attempt().stacks_of()) {
      asked.push_back(command.node_id + " " + std::to_string(rank));
    }
  }
  EXPECT_THAT(asked, ElementsAre("b 3"));
  v1::RankExited exited;
  exited.set_rank(3);
  exited.set_signal(9);
  exited.set_log_tail("last words\n");
  exited.set_stacks("12 train (T) in do_signal_stop\n");
  cluster_.Exit(job_, exited);
  EXPECT_EQ(Verdict().stacks(), exited.stacks());
  EXPECT_EQ(Verdict().log_tail(), exited.log_tail());
  EXPECT_EQ(cluster_.state.jobs.at(job_).exited_ranks.at(3).stacks(), "");
  const std::string answer =
      std::string(ExplainJob(cluster_.View(), cluster_.state.jobs.at(job_)).answer());
  EXPECT_THAT(answer,
              HasSubstr("attempt 1 was stopped by the watchdog: the gang stalled: no step"));
}

// After the lease, old reports prove no hang: from then on, the evidence about the node decides.
TEST_F(HangWatchTest, PastTheLeaseAHangNeedsReportsNoOlderThanALostNodes) {
  Run([](v1::WatchdogSpec& watchdog) { watchdog.set_action(v1::WATCHDOG_ACTION_ALERT); });
  Still(cluster_.options.lease_ms);
  const auto hangs_after = [&](int64_t ms) {
    return FindHang(cluster_.state, cluster_.observations, cluster_.options,
                    cluster_.state.jobs.at(job_), cluster_.now + ms)
        .has_value();
  };
  EXPECT_TRUE(hangs_after(cluster_.options.lost_after_ms - 1));
  EXPECT_FALSE(hangs_after(cluster_.options.lost_after_ms));
}

}  // namespace
}  // namespace trainyard::controller
