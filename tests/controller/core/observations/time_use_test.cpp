#include "controller/core/observations/time_use.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/observations/observe.h"
#include "controller/core/observations/observe_telemetry.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

const ClusterState kNoState;

// Returns a worker's report about one of its ranks.
v1::RankReport Rank(int rank, const std::string& phase, const v1::RankRecord& newest) {
  v1::RankReport report;
  report.set_rank(rank);
  report.set_running(true);
  report.set_phase(phase);
  report.set_step(newest.step());
  report.set_last_activity_ms(newest.step());
  *report.mutable_newest() = newest;
  return report;
}

v1::RankRecord Statistics(int64_t step, double init, double load, double stall) {
  v1::RankRecord record;
  record.set_step(step);
  record.set_init_seconds(init);
  record.set_load_seconds(load);
  record.set_data_stall_seconds(stall);
  return record;
}

class TimeUseTest : public testing::Test {
 protected:
  void Report(std::vector<v1::RankReport> ranks, Timestamp now) {
    v1::Heartbeat heartbeat;
    v1::AttemptReport& report = *heartbeat.add_attempts();
    report.set_job_id(1);
    report.set_attempt(1);
    for (v1::RankReport& rank : ranks) *report.add_ranks() = std::move(rank);
    ObserveHeartbeat("a", heartbeat, now, kNoState, observations_);
  }
  v1::TimeUse At(Timestamp now, const v1::Attempt& attempt = {}) {
    return ObservedTimeUse(observations_.attempts.at({1, 1}), attempt, now);
  }
  void TimeAStep() {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(1);
    batch.mutable_stream()->set_attempt(1);
    (*batch.add_records()->mutable_metrics()->mutable_values())["step_seconds"] = 1;
    ObserveTelemetry(batch, kNoState, observations_);
  }

  Observations observations_;
};

TEST_F(TimeUseTest, TheSlowestRankCountsButForInit) {
  Report({Rank(0, "train", Statistics(5, 3, 1, 0.5)), Rank(1, "train", Statistics(5, 1, 2, 0.25))},
         1000);
  EXPECT_EQ(At(1000).init_ms(), 1000);
  EXPECT_EQ(At(1000).load_ms(), 2000);
  EXPECT_EQ(At(1000).data_stall_ms(), 500);
}

TEST_F(TimeUseTest, APhaseThatGoesOnCountsUntilNowOrUntilTheRankHasLeft) {
  v1::RankRecord statistics = Statistics(5, 1, 0, 0);
  statistics.set_evaluation_seconds(2);
  Report({Rank(0, "eval", statistics)}, 10'000);
  EXPECT_EQ(At(13'000).evaluation_ms(), 5000);
  v1::RankReport left = Rank(0, "eval", statistics);
  left.set_running(false);
  Report({left}, 14'000);
  EXPECT_EQ(At(60'000).evaluation_ms(), 6000);
}

TEST_F(TimeUseTest, APhaseThatHasJustBegunHasTakenNoTime) {
  Report({Rank(0, "eval", {})}, 10'000);
  EXPECT_EQ(At(10'000).evaluation_ms(), 0);
  EXPECT_EQ(At(10'001).evaluation_ms(), 1);
  EXPECT_EQ(At(9999).evaluation_ms(), 0) << "the clock was set back";
}

TEST_F(TimeUseTest, InitIsThatOfTheRanksThatHaveReported) {
  Report({Rank(0, "init", {}), Rank(1, "", {})}, 10'000);
  EXPECT_EQ(At(13'000).init_ms(), 3000);
}

TEST_F(TimeUseTest, RanksThatHaveReportedNothingHaveNoInit) {
  Report({Rank(0, "", {})}, 10'000);
  EXPECT_EQ(At(13'000).init_ms(), 0);
}

TEST_F(TimeUseTest, InitOfARankThatCameByAHealIsNotTheGangs) {
  Report({Rank(0, "train", Statistics(5, 3, 0, 0)), Rank(1, "train", Statistics(5, 1, 0, 0))},
         1000);
  v1::Attempt healed;
  healed.add_heals()->add_seats()->set_place(1);
  EXPECT_EQ(At(1000, healed).init_ms(), 3000);
}

TEST_F(TimeUseTest, OnlyThePhaseThatTheRankIsInGoesOn) {
  Report({Rank(0, "load", Statistics(1, 1, 2, 0.5))}, 10'000);
  EXPECT_EQ(At(13'000).load_ms(), 2000 + 3000);
  EXPECT_EQ(At(13'000).init_ms(), 1000);
  EXPECT_EQ(At(13'000).checkpoint_ms(), 0);
  EXPECT_EQ(At(13'000).evaluation_ms(), 0);
  v1::RankRecord saved = Statistics(1, 1, 2, 0.5);
  saved.set_checkpoint_seconds(4);
  Report({Rank(0, "checkpoint", saved)}, 14'000);
  EXPECT_EQ(At(15'000).checkpoint_ms(), 4000 + 1000);
  EXPECT_EQ(At(15'000).load_ms(), 2000);
}

TEST_F(TimeUseTest, NumbersThatNoClockGivesAreNothing) {
  Report({Rank(0, "train",
               Statistics(1, -5, std::numeric_limits<double>::quiet_NaN(),
                          std::numeric_limits<double>::infinity()))},
         1000);
  EXPECT_EQ(At(1000).init_ms(), 0);
  EXPECT_EQ(At(1000).load_ms(), 0);
  EXPECT_EQ(At(1000).data_stall_ms(), 3'155'760'000'000) << "a hundred years at most";
}

TEST_F(TimeUseTest, AStalledGangHangs) {
  Report({Rank(0, "train", Statistics(1, 0, 0, 0)), Rank(1, "train", Statistics(1, 0, 0, 0))},
         10'000);
  EXPECT_EQ(At(60'000).stalled_since_ms(), 0) << "no step was timed: nobody can tell";
  TimeAStep();
  Report({Rank(0, "train", Statistics(2, 0, 0, 0)), Rank(1, "train", Statistics(1, 0, 0, 0))},
         20'000);
  EXPECT_EQ(At(25'000).stalled_since_ms(), 0);
  EXPECT_EQ(At(25'001).stalled_since_ms(), 20'000);
  EXPECT_EQ(At(60'000).stalled_since_ms(), 20'000);
  v1::Attempt stopping;
  stopping.set_stopping_time_ms(22'000);
  EXPECT_EQ(At(60'000, stopping).stalled_since_ms(), 0) << "it moved until its stop was requested";
  Report({Rank(0, "checkpoint", Statistics(2, 0, 0, 0)), Rank(1, "train", Statistics(1, 0, 0, 0))},
         30'000);
  EXPECT_EQ(At(90'000).stalled_since_ms(), 0) << "saving takes as long as it takes";
}

// Rank 0 goes on after a stall. The stall counts until the report that shows it.
TEST_F(TimeUseTest, AStallThatEndedIsKept) {
  TimeAStep();
  const auto report = [&](int64_t step, int64_t still_ms, Timestamp now) {
    v1::RankReport rank = Rank(0, "train", Statistics(step, 0, 0, 0));
    rank.set_still_ms(still_ms);
    Report({rank}, now);
  };
  report(1, 0, 10'000);
  report(1, 10'000, 20'000);
  EXPECT_EQ(At(20'000).stalled_since_ms(), 10'000);
  EXPECT_EQ(At(20'000).stalled_ms(), 0);
  report(2, 100, 21'000);
  EXPECT_EQ(At(21'000).stalled_since_ms(), 0);
  EXPECT_EQ(At(21'000).stalled_ms(), 11'000);
  EXPECT_EQ(At(21'000).stalled_until_ms(), 21'000);
  // The state contains the stall as soon as StallEnded was applied.
  v1::Attempt recorded;
  recorded.mutable_time_use()->set_stalled_ms(11'000);
  recorded.mutable_time_use()->set_stalled_until_ms(21'000);
  EXPECT_EQ(At(22'000, recorded).stalled_ms(), 11'000);
}

// The event that ends the attempt contains the last reported step, so that the step remains known
// after the observations are dropped.
TEST(AttemptFiguresTest, EndOfAnAttemptMakesItsLastStepAndTimesDurable) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.Publish(job, 120);
  cluster.Step(job, 0, 153, 0.5);
  v1::RankReport& rank = *cluster.Report("a", job).add_ranks();
  rank.set_step(153);
  rank.mutable_newest()->set_load_seconds(2);
  cluster.Pass(500);
  EXPECT_EQ(cluster.Attempt(job).last_step(), 120) << "observed steps are not state";
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  ASSERT_EQ(cluster.Job(job).attempts(0).state(), v1::ATTEMPT_STATE_ENDED);
  EXPECT_EQ(cluster.Job(job).attempts(0).last_step(), 153);
  EXPECT_EQ(cluster.Job(job).attempts(0).time_use().load_ms(), 2000);
  EXPECT_GT(cluster.Job(job).attempts(0).stopping_time_ms(), 0);
  const ClusterState restarted = FromSnapshot(ToSnapshot(cluster.state, 1));
  EXPECT_EQ(restarted.jobs.at(job).job.attempts(0).last_step(), 153);
}

TEST(AttemptFiguresTest, AJobIsShownWithTheObservedFiguresOfItsLiveAttempt) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  v1::RankReport& rank = *cluster.Report("a", job).add_ranks();
  rank.set_step(153);
  rank.mutable_newest()->set_load_seconds(2);
  cluster.Pass(500);
  v1::Job shown = cluster.Job(job);
  MergeObserved(cluster.Job(shown.id()), cluster.observations, cluster.now, shown);
  EXPECT_EQ(shown.attempts(0).last_step(), 153);
  EXPECT_EQ(shown.attempts(0).time_use().load_ms(), 2000);
  EXPECT_FALSE(cluster.Attempt(job).has_time_use());
}

}  // namespace
}  // namespace trainyard::controller
