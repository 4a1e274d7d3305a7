// The life of a data job in the core.
#include <string>

#include "controller/core/commands.h"
#include "controller/core/explain/explain.h"
#include "controller/core/explain/job_health.h"
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
