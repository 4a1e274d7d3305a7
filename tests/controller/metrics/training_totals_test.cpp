#include "controller/metrics/training_totals.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/deploy/metric_page.h"

namespace trainyard::controller {
namespace {

using test::ValueOf;

constexpr Timestamp kNow = 1'000'000;

struct Said {
  TrainingTotals totals;

  void Metrics(int64_t attempt_number, int64_t step, std::map<std::string, double> values,
               int rank = 0) {
    v1::TelemetryRecord record;
    record.set_time_ms(kNow + step);
    record.mutable_metrics()->set_step(step);
    record.mutable_metrics()->set_total_steps(100);
    record.mutable_metrics()->mutable_values()->insert(values.begin(), values.end());
    Record(attempt_number, rank, record);
  }

  void Record(int64_t attempt_number, int rank, const v1::TelemetryRecord& record) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(7);
    batch.mutable_stream()->set_attempt(attempt_number);
    batch.mutable_stream()->set_rank(rank);
    *batch.add_records() = record;
    totals.Observe(batch, kNow + 50);
  }

  std::string Page() const {
    MetricSet metrics;
    totals.AddJobSamples(7, {{"job_id", "7"}}, now, metrics);
    return RenderText(metrics.Take());
  }
  Timestamp now = kNow + 50;
  double Value(const std::string& name) const { return ValueOf(Page(), name + "{job_id=\"7\"}"); }
};

TEST(TrainingTotalsTest, SaysNothingOfJobsThatHaveSaidNothing) { EXPECT_EQ(Said().Page(), ""); }

TEST(TrainingTotalsTest, ShowsTheLastValuesAndCountsSteps) {
  Said said;
  said.Metrics(1, 10, {{"loss", 3.5}, {"tokens", 1000}, {"step_seconds", 0.5}});
  said.Metrics(1, 20, {{"loss", 3.25}, {"tokens", 2000}, {"step_seconds", 0.25}, {"mine", 1}});
  EXPECT_EQ(said.Value("trainyard_train_loss"), 3.25);
  EXPECT_EQ(said.Value("trainyard_train_step"), 20);
  EXPECT_EQ(said.Value("trainyard_train_target_steps"), 100);
  EXPECT_EQ(said.Value("trainyard_train_steps_total"), 11);
  EXPECT_EQ(said.Value("trainyard_train_tokens_total"), 1000);
  EXPECT_EQ(said.Value("trainyard_train_step_seconds"), 0.25);
  EXPECT_EQ(said.Value("trainyard_train_step_duration_seconds_count"), 2);
  EXPECT_EQ(said.Value("trainyard_train_step_duration_seconds_sum"), 0.75);
  EXPECT_EQ(said.Value("trainyard_train_last_step_timestamp_seconds"), (kNow + 20) / 1000.0);
  EXPECT_EQ(said.Page().find("mine"), std::string::npos) << "names of trainers are not bounded";
}

TEST(TrainingTotalsTest, APartOfAStepIsShownUntilItIsOld) {
  Said said;
  said.Metrics(1, 10,
               {{"step_seconds", 0.5}, {"compute_seconds", 0.375}, {"ep_wait_seconds", 0.125}});
  const auto part = [&](const std::string& name) {
    return ValueOf(said.Page(),
                   "trainyard_train_step_part_seconds{job_id=\"7\",part=\"" + name + "\"}");
  };
  EXPECT_EQ(part("compute"), 0.375);
  EXPECT_EQ(part("ep_wait"), 0.125);
  EXPECT_THAT(said.Page(), testing::Not(testing::HasSubstr("tp_wait"))) << "not reported";
  said.now = kNow + 60'000;
  EXPECT_THAT(said.Page(), testing::Not(testing::HasSubstr("step_part")));
}

TEST(TrainingTotalsTest, ARunThatIsSilentHasNoSpeed) {
  Said said;
  said.Metrics(1, 10, {{"loss", 3.5}, {"tokens_per_second", 5000}, {"step_seconds", 20}});
  EXPECT_EQ(said.Value("trainyard_train_tokens_per_second"), 5000);
  said.now = kNow + 60'000;
  EXPECT_EQ(said.Value("trainyard_train_tokens_per_second"), 5000) << "within three steps";
  said.now = kNow + 60'100;
  EXPECT_THAT(said.Page(), testing::Not(testing::HasSubstr("tokens_per_second")));
  EXPECT_THAT(said.Page(), testing::Not(testing::HasSubstr("step_seconds")));
  EXPECT_EQ(said.Value("trainyard_train_loss"), 3.5);
  said.Metrics(1, 11, {{"tokens_per_second", 4000}, {"step_seconds", 70}});
  EXPECT_EQ(said.Value("trainyard_train_tokens_per_second"), 4000);
}

TEST(TrainingTotalsTest, RestartGoesBackAndCountersGoOn) {
  Said said;
  said.Metrics(1, 50, {{"tokens", 5000}});
  said.Metrics(2, 41, {{"tokens", 4100}});
  said.Metrics(2, 45, {{"tokens", 4500}});
  EXPECT_EQ(said.Value("trainyard_train_step"), 45);
  EXPECT_EQ(said.Value("trainyard_train_steps_total"), 1 + 1 + 4);
  EXPECT_EQ(said.Value("trainyard_train_tokens_total"), 400);
  // Metrics of the first attempt that arrive late do not change the exported values.
  said.Metrics(1, 60, {{"loss", 9}, {"step_seconds", 1}});
  EXPECT_EQ(said.Value("trainyard_train_step"), 45);
  EXPECT_EQ(said.Page().find("trainyard_train_loss"), std::string::npos);
}

TEST(TrainingTotalsTest, LossThatIsNoNumberIsShown) {
  Said said;
  said.Metrics(1, 5, {{"loss", std::numeric_limits<double>::quiet_NaN()}});
  EXPECT_TRUE(std::isnan(said.Value("trainyard_train_loss")));
}

TEST(TrainingTotalsTest, ClockThatRunsAheadDoesNotHideAHang) {
  Said said;
  said.Metrics(1, 1'000'000, {});
  EXPECT_EQ(said.Value("trainyard_train_last_step_timestamp_seconds"), (kNow + 50) / 1000.0);
}

TEST(TrainingTotalsTest, CheckpointsAndEvaluations) {
  Said said;
  v1::TelemetryRecord record;
  record.mutable_checkpoint()->set_total_seconds(4);
  record.mutable_checkpoint()->set_blocking_seconds(0.5);
  said.Record(1, 0, record);
  said.Record(1, 0, record);
  v1::TelemetryRecord deleted;
  deleted.mutable_checkpoint()->set_deleted(true);
  said.Record(1, 0, deleted);
  v1::TelemetryRecord evaluation;
  evaluation.mutable_evaluation()->set_data_set("val");
  evaluation.mutable_evaluation()->set_loss(2.5);
  said.Record(1, 0, evaluation);
  evaluation.mutable_evaluation()->set_data_set("code");
  evaluation.mutable_evaluation()->set_loss(9);
  said.Record(1, 0, evaluation);
  EXPECT_EQ(said.Value("trainyard_checkpoint_duration_seconds_count"), 2);
  EXPECT_EQ(said.Value("trainyard_checkpoint_blocking_seconds_total"), 1);
  EXPECT_EQ(said.Value("trainyard_train_validation_loss"), 2.5);
  said.totals.Forget(7);
  EXPECT_EQ(said.Page(), "");
}

}  // namespace
}  // namespace trainyard::controller
