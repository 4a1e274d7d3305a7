// The life of a data job in the core.
#include <string>

#include "controller/core/commands.h"
#include "controller/core/explain/explain.h"
#include "controller/core/explain/job_health.h"
#include "controller/core/health/gang_limit.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/observations/observe_telemetry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::JobSpec DataSpec(const std::string& name, int nodes) {
  v1::JobSpec spec;
  spec.set_name(name);
  spec.set_kind(v1::JOB_KIND_DATA);
  spec.set_pipeline("/data/wiki.yaml");
  spec.mutable_resources()->set_nodes(nodes);
  spec.mutable_restart()->set_max_restarts(3);
  return spec;
}

class DataJobTest : public ::testing::Test {
 protected:
  DataJobTest() {
    cluster_.AddNode("a", 1);
    cluster_.AddNode("b", 1);
    job_ = cluster_.Submit(DataSpec("wiki", 2));
  }

  // Sends metrics of rank 0.
  void Report(int64_t step, double documents, double rate) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(job_);
    batch.mutable_stream()->set_attempt(cluster_.Attempt(job_).number());
    v1::TelemetryRecord& record = *batch.add_records();
    record.set_time_ms(cluster_.now);
    v1::MetricsRecord& metrics = *record.mutable_metrics();
    metrics.set_step(step);
    (*metrics.mutable_values())["documents"] = documents;
    (*metrics.mutable_values())["bytes_per_second"] = rate;
    ObserveTelemetry(batch, cluster_.state, cluster_.observations);
  }

  // Makes the workers report the phase and the step of both ranks from now on.
  void ReportRanks(const std::string& phase, int64_t step = 0) {
    for (const int rank : {0, 1}) {
      v1::AttemptReport& report = cluster_.Report(rank == 0 ? "a" : "b", job_);
      report.clear_ranks();
      v1::RankReport& reported = *report.add_ranks();
      reported.set_rank(rank);
      reported.set_running(true);
      reported.set_phase(phase);
      reported.set_step(step);
    }
  }

  const JobEntry& Entry() const { return cluster_.state.jobs.at(job_); }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(DataJobTest, RunsOnCpuSlotsWithoutACheckpointDirectory) {
  cluster_.RunJob(job_);
  EXPECT_EQ(cluster_.Placement(job_), "a:0 b:0");
  EXPECT_EQ(cluster_.Job(job_).spec().checkpoint().dir(), "");
  EXPECT_TRUE(cluster_.state.job_by_checkpoint_dir.empty());
  cluster_.ExitAll(job_, 0);
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(DataJobTest, ItsNodesNeedNoSharedCheckpointRoot) {
  cluster_.observations.roots.path = "/checkpoints";
  cluster_.observations.roots.nodes_by_nonce["1"] = {"a"};
  cluster_.observations.roots.nodes_by_nonce["2"] = {"b"};
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STARTING);
}

TEST_F(DataJobTest, ReportsDocumentsAndTheRate) {
  cluster_.RunJob(job_);
  Report(7, 1000, 5e6);
  const v1::Progress& progress = cluster_.observations.progress.at(job_);
  EXPECT_EQ(progress.step(), 7);
  EXPECT_EQ(progress.data().documents(), 1000);
  EXPECT_EQ(progress.data().bytes_per_second(), 5e6);
}

TEST_F(DataJobTest, ReportsThePhaseOfRankZero) {
  cluster_.RunJob(job_);
  for (const int rank : {1, 0, 1}) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(job_);
    batch.mutable_stream()->set_attempt(cluster_.Attempt(job_).number());
    batch.mutable_stream()->set_rank(rank);
    v1::TelemetryRecord& record = *batch.add_records();
    record.set_time_ms(cluster_.now);
    record.mutable_phase()->set_phase(rank == 0 ? "decide" : "wait");
    ObserveTelemetry(batch, cluster_.state, cluster_.observations);
  }
  EXPECT_EQ(cluster_.observations.progress.at(job_).data().phase(), "decide");
}

TEST_F(DataJobTest, OnlyDataJobsReportDocuments) {
  const int64_t other = cluster_.Submit("train", 1, 1);
  cluster_.Stop(job_, /*kill=*/true);
  job_ = other;
  cluster_.RunJob(job_);
  Report(7, 1000, 5e6);
  EXPECT_FALSE(cluster_.observations.progress.at(job_).has_data());
}

TEST_F(DataJobTest, FinishedBlocksAreNeverAtRisk) {
  cluster_.RunJob(job_);
  Report(7, 1000, 5e6);
  const v1::JobHealth health =
      HealthOf(cluster_.state, cluster_.observations, Entry(), cluster_.now);
  EXPECT_EQ(health.word(), v1::HEALTH_WORD_OK);
  EXPECT_EQ(health.steps_at_risk(), 0);
}

// The steps of a pipeline have blocks of different lengths.
TEST_F(DataJobTest, LongAndSlowBlocksAreNoFinding) {
  cluster_.RunJob(job_);
  for (int64_t step = 1; step <= 200; ++step) {
    Report(step, 1000.0 * static_cast<double>(step), 5e6);
    cluster_.Pass(200, 200);
  }
  for (int64_t step = 201; step <= 215; ++step) {
    Report(step, 1000.0 * static_cast<double>(step), 1e5);
    cluster_.Pass(3000);
  }
  cluster_.Pass(120'000);
  EXPECT_EQ(HealthOf(cluster_.state, cluster_.observations, Entry(), cluster_.now).word(),
            v1::HEALTH_WORD_OK);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
}

TEST_F(DataJobTest, ALostPeerRestartsTheGang) {
  cluster_.RunJob(job_);
  cluster_.ExitAll(job_, 69);
  cluster_.Pass(3000);
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
  cluster_.Pass(15'000);
  EXPECT_EQ(cluster_.Job(job_).attempts_size(), 2);
}

TEST_F(DataJobTest, TheOthersContinueWithoutAKilledRank) {
  cluster_.RunJob(job_);
  ReportRanks("blocks", 7);
  v1::RankExited killed;
  killed.set_rank(1);
  killed.set_signal(9);
  cluster_.Exit(job_, killed);
  cluster_.ClearNode(job_, "b");
  cluster_.Pass(60'000);
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  const v1::JobHealth health =
      HealthOf(cluster_.state, cluster_.observations, Entry(), cluster_.now);
  EXPECT_EQ(health.word(), v1::HEALTH_WORD_SLOW);
  EXPECT_THAT(health.findings(0).message(),
              HasSubstr("continues without 1 rank: rank 1 on b was ended by signal 9 (SIGKILL)"));
  cluster_.ExitRank(job_, 0, 0);
  cluster_.ClearNode(job_, "a");
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(cluster_.Job(job_).attempts_size(), 1);
  EXPECT_EQ(cluster_.Job(job_).verdict().summary(),
            "rank 0, which leads the other ranks, exited with 0");
}

TEST_F(DataJobTest, AFailureOfAnotherRankIsJudged) {
  cluster_.RunJob(job_);
  cluster_.ExitRank(job_, 1, 66);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Attempt(job_).verdict().rank(), 1);
}

// Rank 0 works alone for longer than the lease.
TEST_F(DataJobTest, TheOthersContinueWithoutALostNode) {
  cluster_.RunJob(job_);
  ReportRanks("decide");
  cluster_.Pass(2000);
  cluster_.StopHeartbeats("b");
  cluster_.Pass(cluster_.options.lease_ms + 60'000, 2000);
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(cluster_.NodeStateOf("b"), v1::NODE_STATE_SUSPECT);
  EXPECT_THAT(
      HealthOf(cluster_.state, cluster_.observations, Entry(), cluster_.now).findings(0).message(),
      HasSubstr("rank 1 on b is on a node without a heartbeat"));
  cluster_.ExitRank(job_, 0, 0);
  cluster_.ClearNode(job_, "a");
  cluster_.Pass(1000);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(cluster_.NodeStateOf("b"), v1::NODE_STATE_LOST);
}

// Ranks lose the connection to rank 0 within a minute.
TEST_F(DataJobTest, TheLossOfTheNodeOfRankZeroRestartsTheGang) {
  cluster_.RunJob(job_);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(60'000);
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RUNNING);
  cluster_.ExitRank(job_, 1, 69);
  cluster_.ClearNode(job_, "b");
  cluster_.Pass(15'000);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
  EXPECT_THAT(cluster_.Attempt(job_).verdict().summary(),
              HasSubstr("node a has sent no heartbeat"));
}

TEST_F(DataJobTest, ANodeThatIsLostBeforeTheStartEndsTheAttempt) {
  cluster_.Settle();
  cluster_.StartRank(job_, 0);
  cluster_.StopHeartbeats("b");
  cluster_.Pass(cluster_.options.start_lease_ms + 10'000, 1000);
  EXPECT_EQ(cluster_.Attempt(job_).verdict().cause(), v1::VERDICT_CAUSE_NODE_LOST);
}

TEST_F(DataJobTest, TheEndOfRankZeroStopsTheOthers) {
  cluster_.RunJob(job_);
  cluster_.ExitRank(job_, 0, 0);
  cluster_.Settle();
  EXPECT_THAT(cluster_.Commands(), ::testing::Contains(HasSubstr("stop b 1/1")));
  cluster_.ExitRank(job_, 1, 143);
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_SUCCEEDED);
}

// The numbers of steps are those of the current pass, so that its end is not the end of the run.
TEST_F(DataJobTest, TheLimitDoesNotDependOnSteps) {
  cluster_.RunJob(job_);
  ReportRanks("merge", 7);
  cluster_.Pass(1000);
  cluster_.observations.attempts.begin()->second.total_steps = 7;
  const GangLimit limit =
      LimitOfGang(cluster_.observations, cluster_.options, Entry(), cluster_.now);
  EXPECT_EQ(limit.state, GangState::kPreparesData);
  EXPECT_EQ(limit.ms, cluster_.options.unknown_phase_ms);
}

TEST_F(DataJobTest, AFrozenRankZeroIsJudgedWithoutTheOthers) {
  cluster_.RunJob(job_);
  ReportRanks("wait");
  cluster_.Pass(2000);
  cluster_.StopHeartbeats("b");
  cluster_.Pass(cluster_.options.unknown_phase_ms + 60'000, 2500);
  EXPECT_EQ(cluster_.Attempt(job_).verdict().cause(), v1::VERDICT_CAUSE_STALLED);
}

TEST_F(DataJobTest, TheTimeOfAllAttemptsCountsAndNoGpuIsUsed) {
  cluster_.RunJob(job_);
  for (int64_t step = 1; step <= 5; ++step) {
    Report(step, 1000, 5e6);
    cluster_.Pass(1000);
  }
  cluster_.ExitAll(job_, 1);
  cluster_.ClearAll(job_);
  cluster_.Pass(15'000);
  cluster_.RunJob(job_);
  Report(1, 2000, 5e6);
  cluster_.Pass(3000);
  const v1::Ledger ledger = LedgerOf(cluster_.Job(job_), cluster_.now);
  EXPECT_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_REDONE), 0);
  EXPECT_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_UNSAVED), 0);
  EXPECT_GT(SecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), 0);
  EXPECT_EQ(ledger.gpu_seconds(), 0);
}

TEST_F(DataJobTest, ABadPipelineEndsTheJob) {
  cluster_.RunJob(job_);
  cluster_.ExitAll(job_, 78);
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster_.Job(job_).verdict().cause(), v1::VERDICT_CAUSE_BAD_JOB);
}

// The results are durable, so a full disk is worth another attempt.
TEST_F(DataJobTest, AFullDiskIsTriedAgainOnce) {
  cluster_.RunJob(job_);
  Report(7, 1000, 5e6);
  cluster_.ExitAll(job_, 73);
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
}

}  // namespace
}  // namespace trainyard::controller
