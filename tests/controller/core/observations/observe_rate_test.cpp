#include "controller/core/observations/observe_rate.h"

#include <cmath>
#include <string>
#include <vector>

#include "controller/core/observations/observe_telemetry.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

class ObserveRateTest : public ::testing::Test {
 protected:
  ObserveRateTest() { cluster_.AddNode("a", 2); }

  int64_t Run(const std::string& name, const std::string& resume_from = "") {
    v1::JobSpec spec = TestSpec(name, 1, 1);
    if (!resume_from.empty()) spec.mutable_checkpoint()->set_resume_from(resume_from);
    const int64_t job = cluster_.Submit(spec);
    cluster_.RunJob(job);
    return job;
  }

  void Report(int64_t job, int64_t step, double rate) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(job);
    batch.mutable_stream()->set_attempt(cluster_.Attempt(job).number());
    v1::TelemetryRecord& record = *batch.add_records();
    record.set_time_ms(cluster_.now);
    record.mutable_metrics()->set_step(step);
    (*record.mutable_metrics()->mutable_values())["lr"] = rate;
    ObserveTelemetry(batch, cluster_.state, cluster_.observations);
    for (v1::Event& event : cluster_.Settle()) {
      if (event.has_learning_rate_changed()) changes_.push_back(event.learning_rate_changed());
    }
  }

  void Restart(int64_t job) {
    cluster_.ExitAll(job, 1);
    cluster_.ClearAll(job);
    cluster_.Pass(2000);
    cluster_.StartAll(job);
  }

  TestCluster cluster_;
  std::vector<v1::LearningRateChanged> changes_;
};

TEST_F(ObserveRateTest, AChangeAtARestartIsAnEventOnce) {
  const int64_t job = Run("job");
  for (const int64_t step : {3990, 4000, 4010}) Report(job, step, 3e-4);
  cluster_.Publish(job, 4000);
  Restart(job);
  ASSERT_EQ(cluster_.Attempt(job).resume_step(), 4000);
  Report(job, 4010, 1.2e-4);
  EXPECT_TRUE(changes_.empty()) << "one rate proves nothing";
  for (const int64_t step : {4020, 4030, 4040}) Report(job, step, 1.2e-4);
  ASSERT_EQ(changes_.size(), 1U);
  EXPECT_EQ(changes_[0].job_id(), job);
  EXPECT_EQ(changes_[0].attempt(), 2);
  EXPECT_EQ(changes_[0].change().step(), 4000);
  EXPECT_EQ(changes_[0].change().before(), 3e-4);
  EXPECT_EQ(changes_[0].change().after(), 1.2e-4);
  EXPECT_EQ(cluster_.Attempt(job).rate_change().step(), 4000);
}

TEST_F(ObserveRateTest, AnUnchangedScheduleIsNoEvent) {
  const int64_t job = Run("job");
  for (const int64_t step : {3990, 4000, 4010}) Report(job, step, 3e-4);
  cluster_.Publish(job, 4000);
  Restart(job);
  for (const int64_t step : {4010, 4020, 4030}) Report(job, step, 3e-4);
  EXPECT_TRUE(changes_.empty());
  EXPECT_FALSE(cluster_.Attempt(job).has_rate_change());
}

// A second job, with another schedule, resumes from a checkpoint of the first job.
TEST_F(ObserveRateTest, AChangeBetweenTwoJobsIsAnEvent) {
  const int64_t first = Run("first");
  for (const int64_t step : {10, 20}) Report(first, step, 6e-4);
  cluster_.Publish(first, 20);
  const int64_t second = Run("second", "/c/step_20");
  for (const int64_t step : {21, 22}) Report(second, step, 4.6e-4);
  ASSERT_EQ(changes_.size(), 1U);
  EXPECT_EQ(changes_[0].job_id(), second);
  EXPECT_EQ(changes_[0].change().step(), 20);
  EXPECT_EQ(changes_[0].change().before(), 6e-4);
  EXPECT_EQ(changes_[0].change().after(), 4.6e-4);
}

TEST_F(ObserveRateTest, ARateThatIsNotFiniteStartsNoSearchForTheEarlierJob) {
  const int64_t first = Run("first");
  cluster_.Publish(first, 20);
  const int64_t second = Run("second", "/c/step_20");
  for (const int64_t step : {21, 22}) Report(second, step, std::nan(""));
  EXPECT_FALSE(cluster_.observations.rates.contains(second));
  EXPECT_TRUE(changes_.empty());
}

TEST_F(ObserveRateTest, AJobWithoutTheCheckpointOfAnotherStartsItsOwnSchedule) {
  const int64_t first = Run("first");
  for (const int64_t step : {10, 20}) Report(first, step, 6e-4);
  cluster_.Publish(first, 20);
  const int64_t second = Run("second", "/elsewhere/step_20");
  for (const int64_t step : {21, 22}) Report(second, step, 4.6e-4);
  EXPECT_TRUE(changes_.empty());
}

}  // namespace
}  // namespace trainyard::controller
