#include "controller/core/explain/launcher_hint.h"

#include <string>
#include <utility>

#include "controller/core/explain/explain.h"
#include "controller/core/observations/observe_telemetry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

class LauncherHintTest : public ::testing::Test {
 protected:
  LauncherHintTest() {
    cluster_.AddNode("a", 2);
    v1::JobSpec spec = TestSpec("job", 1, 2);
    spec.mutable_launch()->set_processes_per_node(1);
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
  }

  void Send(int64_t begin_offset, v1::TelemetryRecord record) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(job_);
    batch.mutable_stream()->set_attempt(cluster_.Attempt(job_).number());
    batch.mutable_stream()->set_kind(v1::STREAM_KIND_PARSED_LOG);
    batch.set_begin_offset(begin_offset);
    batch.set_end_offset(begin_offset + 10);
    *batch.add_records() = std::move(record);
    ObserveTelemetry(batch, cluster_.state, cluster_.observations);
  }

  void Send(int64_t begin_offset, const std::string& code, const std::string& message,
            Timestamp time_ms = 1000) {
    v1::TelemetryRecord record;
    record.set_time_ms(time_ms);
    record.mutable_alert()->set_code(code);
    record.mutable_alert()->set_message(message);
    Send(begin_offset, record);
  }

  void SendMetrics(int64_t begin_offset, Timestamp time_ms) {
    v1::TelemetryRecord record;
    record.set_time_ms(time_ms);
    record.mutable_metrics()->set_step(7);
    Send(begin_offset, record);
  }

  std::optional<planner::Finding> Finding() const {
    return LauncherFinding(cluster_.observations, cluster_.state.jobs.at(job_));
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(LauncherHintTest, RestartsAreCountedAndTheNewestIsShown) {
  Send(0, "launcher_rank_failed", "rank 1 has ended by signal 9");
  EXPECT_FALSE(Finding().has_value()) << "the launcher may also end";
  Send(10, "launcher_restart", "1 of 2 restarts left");
  ASSERT_TRUE(Finding().has_value());
  EXPECT_EQ(Finding()->what, "launchers have restarted ranks 1 time in this attempt");
  Send(20, "launcher_restart", "0 of 2 restarts left");
  EXPECT_EQ(Finding()->what, "launchers have restarted ranks 2 times in this attempt");
  EXPECT_EQ(Finding()->why, "0 of 2 restarts left");
  EXPECT_THAT(Finding()->right, HasSubstr("--max-restarts 0"));
  const v1::WhyJobResponse why = ExplainJob(cluster_.View(), cluster_.state.jobs.at(job_));
  ASSERT_EQ(why.findings_size(), 1);
  EXPECT_THAT(why.findings(0).what(), HasSubstr("launchers have restarted ranks 2 times"));
}

// By default, torchrun prints only the failure of the rank.
TEST_F(LauncherHintTest, MetricsAfterAFailureShowARestart) {
  Send(0, "launcher_rank_failed", "rank 1 has ended by signal 9", /*time_ms=*/1000);
  SendMetrics(10, /*time_ms=*/2000);
  EXPECT_FALSE(Finding().has_value())
      << "another rank of the launcher, before the launcher ends it";
  SendMetrics(20, /*time_ms=*/4000);
  ASSERT_TRUE(Finding().has_value());
  EXPECT_EQ(Finding()->why, "rank 1 has ended by signal 9");
  SendMetrics(30, /*time_ms=*/5000);
  EXPECT_EQ(Finding()->what, "launchers have restarted ranks 1 time in this attempt");
}

TEST_F(LauncherHintTest, RepeatedReportsAreCountedOnce) {
  Send(0, "launcher_restart", "1 of 2 restarts left");
  Send(0, "launcher_restart", "1 of 2 restarts left");
  EXPECT_EQ(Finding()->what, "launchers have restarted ranks 1 time in this attempt");
}

TEST_F(LauncherHintTest, TheNextAttemptBeginsWithoutRestarts) {
  Send(0, "launcher_restart", "1 of 2 restarts left");
  cluster_.ExitAll(job_, 1);
  cluster_.ClearAll(job_);
  cluster_.Pass(3000);
  ASSERT_EQ(cluster_.Attempt(job_).number(), 2);
  EXPECT_FALSE(Finding().has_value());
}

}  // namespace
}  // namespace trainyard::controller
