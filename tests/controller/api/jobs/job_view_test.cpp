#include "controller/api/jobs/job_view.h"

#include <gtest/gtest.h>

#include <limits>

#include "controller/core/observations/observe_telemetry.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

class JobViewTest : public testing::Test {
 protected:
  JobViewTest() {
    cluster_.AddNode("a", 1);
    job_ = cluster_.Submit("job", 1, 1);
    cluster_.RunJob(job_);
  }

  // The run completes a step, which takes a second.
  void Step(double loss) {
    cluster_.Pass(1000);
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(job_);
    batch.mutable_stream()->set_attempt(1);
    v1::TelemetryRecord& record = *batch.add_records();
    record.set_time_ms(cluster_.now);
    record.mutable_metrics()->set_step(++step_);
    record.mutable_metrics()->set_total_steps(1000);
    auto& values = *record.mutable_metrics()->mutable_values();
    values["loss"] = loss;
    values["step_seconds"] = 1;
    values["tokens_per_second"] = 500;
    ObserveTelemetry(batch, cluster_.state, cluster_.observations);
  }
  v1::Progress Shown() {
    return ListedJob(cluster_.state.jobs.at(job_), cluster_.View()).progress();
  }

  TestCluster cluster_;
  int64_t job_ = 0;
  int64_t step_ = 0;
};

TEST_F(JobViewTest, ADivergingRunHasARateButNoTimeLeft) {
  for (int i = 0; i < 10; ++i) Step(2.5);
  EXPECT_NEAR(Shown().eta_seconds(), 990, 1);
  Step(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(Shown().eta_seconds(), 0);
  EXPECT_EQ(Shown().tokens_per_second(), 500);
}

// The last rate of a run that stopped reporting is not the current rate.
TEST_F(JobViewTest, ARunThatReportsNothingForHalfAMinuteHasNoRate) {
  for (int i = 0; i < 10; ++i) Step(2.5);
  cluster_.Pass(40'000);
  EXPECT_EQ(Shown().tokens_per_second(), 0);
  EXPECT_EQ(Shown().eta_seconds(), 0);
  EXPECT_EQ(Shown().step(), 10);
}

}  // namespace
}  // namespace trainyard::controller
