// Tests the progress and pace of a job, as derived from the telemetry of its ranks.
#include <limits>

#include "controller/core/observations/observations.h"
#include "controller/core/observations/observe.h"
#include "controller/core/observations/observe_telemetry.h"
#include "gtest/gtest.h"
#include "tests/controller/core/observations/rank_reports.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

TEST(TelemetryProgressTest, TelemetryGivesProgressAndPace) {
  Observations observations;
  ObserveTelemetry(MetricsOf(10, 20, 2), kNoJobs, observations);
  ObserveTelemetry(MetricsOf(20, 40, 4), kNoJobs, observations);
  const v1::Progress& progress = observations.progress.at(1);
  EXPECT_EQ(progress.step(), 40);
  EXPECT_EQ(progress.total_steps(), 100);
  EXPECT_EQ(progress.loss(), 3.5);
  EXPECT_EQ(progress.tokens_per_second(), 1000);
  EXPECT_EQ(progress.step_seconds(), 4);
  EXPECT_EQ(progress.eta_seconds(), 60 * 3);
  v1::TelemetryBatch evaluation;
  evaluation.mutable_stream()->set_job_id(1);
  evaluation.mutable_stream()->set_attempt(1);
  v1::EvaluationRecord& usual = *evaluation.add_records()->mutable_evaluation();
  usual.set_data_set("val");
  usual.set_loss(4.5);
  v1::EvaluationRecord& other = *evaluation.add_records()->mutable_evaluation();
  other.set_data_set("code");
  other.set_loss(9);
  ObserveTelemetry(evaluation, kNoJobs, observations);
  EXPECT_EQ(progress.validation_loss(), 4.5);
  ASSERT_EQ(progress.evaluations_size(), 2);
  EXPECT_EQ(progress.evaluations(0).data_set(), "code");
  EXPECT_EQ(progress.evaluations(0).loss(), 9);
  EXPECT_EQ(progress.evaluations(1).data_set(), "val");
}

TEST(TelemetryProgressTest, TheBestLossIsTheLowestFiniteOne) {
  Observations observations;
  const auto send = [&](int64_t step, double loss) {
    v1::TelemetryBatch batch = MetricsOf(step, step, 2);
    (*batch.mutable_records(0)->mutable_metrics()->mutable_values())["loss"] = loss;
    ObserveTelemetry(batch, kNoJobs, observations);
  };
  send(1, std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(observations.progress.at(1).has_best_loss());
  send(2, 3);
  send(3, 2);
  send(4, 2.5);
  send(5, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(observations.progress.at(1).best_loss(), 2);
}

TEST(TelemetryProgressTest, ThePaceIsThatOfTheNewestSixteenSteps) {
  Observations observations;
  for (int step = 1; step <= 20; ++step) {
    ObserveTelemetry(MetricsOf(step, step, step <= 4 ? 100 : 1), kNoJobs, observations);
  }
  EXPECT_EQ(observations.progress.at(1).eta_seconds(), 80);
  ObserveTelemetry(MetricsOf(20, 120, 1), kNoJobs, observations);
  EXPECT_EQ(observations.progress.at(1).step(), 120) << "a record of the same time is not older";
  EXPECT_EQ(observations.progress.at(1).eta_seconds(), 0);
}

// The clock of a program may be behind, ahead, or set back.
TEST(TelemetryProgressTest, RecordsAreOrderedByArrivalAndNotByTheirTimes) {
  Observations observations;
  ObserveTelemetry(MetricsOf(1000, 40, 4), kNoJobs, observations);
  ObserveTelemetry(MetricsOf(15, 41, 4), kNoJobs, observations);
  EXPECT_EQ(observations.progress.at(1).step(), 41);
}

TEST(TelemetryProgressTest, RecordsOfAnOlderAttemptChangeNothing) {
  Observations observations;
  // The first attempt ran on a node whose clock is an hour ahead.
  ObserveTelemetry(MetricsOf(3'600'000, 10, 2), kNoJobs, observations);
  v1::TelemetryBatch second = MetricsOf(5000, 6, 2);
  second.mutable_stream()->set_attempt(2);
  ObserveTelemetry(second, kNoJobs, observations);
  EXPECT_EQ(observations.progress.at(1).step(), 6);
  ObserveTelemetry(MetricsOf(3'700'000, 11, 2), kNoJobs, observations);
  EXPECT_EQ(observations.progress.at(1).step(), 6);
  EXPECT_EQ(observations.attempts.at({1, 1}).step_times.size(), 2u);
}

TEST(TelemetryProgressTest, BytesThatWereObservedBeforeCountOnce) {
  Observations observations;
  const auto send = [&](int64_t end_offset, int64_t step) {
    v1::TelemetryBatch batch = MetricsOf(10, step, 2);
    batch.set_end_offset(end_offset);
    ObserveTelemetry(batch, kNoJobs, observations);
  };
  send(100, 10);
  send(200, 20);
  send(100, 10);
  send(200, 20);
  EXPECT_EQ(observations.progress.at(1).step(), 20);
  EXPECT_EQ(observations.attempts.at({1, 1}).step_times.size(), 2u);
  send(300, 30);
  EXPECT_EQ(observations.progress.at(1).step(), 30);
}

TEST(TelemetryProgressTest, ALossThatIsOlderThanTheStepKeepsItsStep) {
  Observations observations;
  ObserveTelemetry(MetricsOf(10, 29, 2), kNoJobs, observations);
  EXPECT_EQ(observations.progress.at(1).loss_step(), 29);
  v1::TelemetryBatch without = MetricsOf(20, 40, 2);
  without.mutable_records(0)->mutable_metrics()->mutable_values()->erase("loss");
  ObserveTelemetry(without, kNoJobs, observations);
  EXPECT_EQ(observations.progress.at(1).step(), 40);
  EXPECT_EQ(observations.progress.at(1).loss(), 3.5);
  EXPECT_EQ(observations.progress.at(1).loss_step(), 29);
}

// The age of the progress does not depend on the program's clock.
class ProgressTimeTest : public ::testing::Test {
 protected:
  ProgressTimeTest() {
    cluster_.AddNode("a", 1);
    job_ = cluster_.Submit("job", 1, 1);
    cluster_.RunJob(job_);
    cluster_.ReportRunning("a", job_, 1);
  }
  // The worker sees a new step now, and the record has this time.
  int64_t TimeAfter(int64_t record_ms) {
    cluster_.Report("a", job_).mutable_ranks(0)->set_step(++step_);
    cluster_.Pass(500);
    v1::TelemetryBatch batch = MetricsOf(record_ms, step_, 2);
    batch.mutable_stream()->set_job_id(job_);
    ObserveTelemetry(batch, cluster_.state, cluster_.observations);
    return cluster_.observations.progress.at(job_).time_ms();
  }

  TestCluster cluster_;
  int64_t job_ = 0;
  int64_t step_ = 0;
};

TEST_F(ProgressTimeTest, ATimeAheadIsThatOfTheArrival) {
  EXPECT_EQ(TimeAfter(cluster_.now + 86'400'000), cluster_.now);
}

TEST_F(ProgressTimeTest, TheTimeMovesWithTheControllersClock) {
  const int64_t before_ms = TimeAfter(cluster_.now);
  cluster_.StepClock(3'600'000);
  EXPECT_EQ(cluster_.observations.progress.at(job_).time_ms(), before_ms + 3'600'000);
}

TEST_F(ProgressTimeTest, ATimeBehindIsThatOfTheStepThatTheWorkerSaw) {
  EXPECT_EQ(TimeAfter(cluster_.now - 86'400'000), cluster_.now);
  EXPECT_EQ(TimeAfter(7), cluster_.now);
}

TEST(TelemetryProgressTest, StepsMayTakeLessThanASecond) {
  Observations observations;
  ObserveTelemetry(MetricsOf(10, 20, 0.25), kNoJobs, observations);
  EXPECT_EQ(observations.progress.at(1).step_seconds(), 0.25);
  EXPECT_EQ(observations.progress.at(1).eta_seconds(), 20);
}

TEST(TelemetryProgressTest, ValuesThatARecordLacksStayAsTheyWere) {
  Observations observations;
  ObserveTelemetry(MetricsOf(10, 20, 2), kNoJobs, observations);
  v1::TelemetryBatch bare = MetricsOf(20, 21, 0);
  bare.mutable_records(0)->mutable_metrics()->clear_values();
  bare.mutable_records(0)->mutable_metrics()->clear_total_steps();
  ObserveTelemetry(bare, kNoJobs, observations);
  const v1::Progress& progress = observations.progress.at(1);
  EXPECT_EQ(progress.step(), 21);
  EXPECT_EQ(progress.time_ms(), 20);
  EXPECT_EQ(progress.total_steps(), 100);
  EXPECT_EQ(progress.loss(), 3.5);
  EXPECT_EQ(progress.tokens_per_second(), 1000);
  EXPECT_EQ(progress.step_seconds(), 2);
  EXPECT_EQ(progress.eta_seconds(), 79 * 2);
  const AttemptObservation& attempt = observations.attempts.at({1, 1});
  EXPECT_EQ(attempt.total_steps, 100);
  EXPECT_EQ(attempt.ranks.at(0).newest.step_seconds(), 2);
  EXPECT_EQ(attempt.step_times.size(), 1u);
}

TEST(TelemetryProgressTest, MetricsWithoutAStepTimeGiveNoPace) {
  Observations observations;
  v1::TelemetryBatch batch = MetricsOf(10, 20, 2);
  batch.mutable_records(0)->mutable_metrics()->mutable_values()->erase("step_seconds");
  ObserveTelemetry(batch, kNoJobs, observations);
  EXPECT_TRUE(observations.attempts.at({1, 1}).step_times.empty());
  EXPECT_EQ(observations.progress.at(1).step(), 20);
  EXPECT_EQ(observations.progress.at(1).step_seconds(), 0);
  EXPECT_EQ(observations.progress.at(1).eta_seconds(), 0);
}

TEST(TelemetryProgressTest, TheLowestRankThatWritesMetricsReportsForTheGang) {
  Observations observations;
  v1::TelemetryBatch of_three = MetricsOf(10, 20, 2);
  of_three.mutable_stream()->set_rank(3);
  of_three.add_records()->mutable_phase()->set_phase("train");
  ObserveTelemetry(of_three, kNoJobs, observations);
  KeepReportingRanksMetrics(kNoJobs, observations, of_three);
  EXPECT_EQ(of_three.records_size(), 2) << "nobody else has spoken";
  EXPECT_EQ(observations.progress.at(1).step(), 20);

  v1::TelemetryBatch of_zero = MetricsOf(20, 30, 4);
  ObserveTelemetry(of_zero, kNoJobs, observations);
  KeepReportingRanksMetrics(kNoJobs, observations, of_zero);
  EXPECT_EQ(of_zero.records_size(), 1);

  of_three.mutable_records(0)->set_time_ms(30);
  of_three.mutable_records(0)->mutable_metrics()->set_step(31);
  ObserveTelemetry(of_three, kNoJobs, observations);
  KeepReportingRanksMetrics(kNoJobs, observations, of_three);
  ASSERT_EQ(of_three.records_size(), 1);
  EXPECT_TRUE(of_three.records(0).has_phase());
  EXPECT_EQ(observations.progress.at(1).step(), 30);
  // The controller stores statistics of every rank, not only of the gang's reporting rank.
  const AttemptObservation& attempt = observations.attempts.at({1, 1});
  EXPECT_EQ(attempt.ranks.at(3).newest.step_seconds(), 2);
  EXPECT_EQ(LastStep(attempt), 31);
  EXPECT_EQ(attempt.step_times.size(), 2u) << "rank 3 before rank 0 spoke, then rank 0";
}

TEST(TelemetryProgressTest, StepTimesAreFinite) {
  Observations observations;
  ObserveTelemetry(MetricsOf(10, 20, std::numeric_limits<double>::infinity()), kNoJobs,
                   observations);
  EXPECT_EQ(observations.attempts.at({1, 1}).step_times.Newest(), 365 * 86400.0);
}

TEST(TelemetryProgressTest, StepTimesAreBounded) {
  Observations observations;
  for (int i = 0; i < 1000; ++i) ObserveTelemetry(MetricsOf(i, i, 1), kNoJobs, observations);
  EXPECT_EQ(observations.attempts.at({1, 1}).step_times.size(), kStepTimesKept);
}

TEST(TelemetryProgressTest, APaceIsKeptWhileAWorkerThatHasBegunAnewKnowsNone) {
  Observations observations;
  v1::Heartbeat heartbeat;
  v1::AttemptReport& report = *heartbeat.add_attempts();
  report.set_job_id(1);
  report.set_attempt(1);
  v1::RankReport& rank = *report.add_ranks();
  rank.set_running(true);
  for (const int64_t slow_step_ms : {20'000, 0}) {
    rank.set_slow_step_ms(slow_step_ms);
    ObserveHeartbeat("a", heartbeat, 1000, kNoJobs, observations);
  }
  EXPECT_EQ(observations.attempts.at({1, 1}).ranks.at(0).slow_step_ms, 20'000);
}

// Experts are judged and stored as reported by the lowest rank that writes metrics.
TEST(TelemetryProgressTest, OnlyTheReportingRanksExpertsCount) {
  Observations observations;
  ObserveTelemetry(MetricsOf(10, 20, 2), kNoJobs, observations);
  const auto send = [&](int rank, int64_t first_step, float balance) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(1);
    batch.mutable_stream()->set_attempt(1);
    batch.mutable_stream()->set_rank(rank);
    for (int i = 0; i < kExpertRecordsInARow; ++i) {
      v1::ExpertsRecord& record = *batch.add_records()->mutable_experts();
      record.set_step(first_step + i);
      record.set_experts(8);
      record.set_topk(1);
      record.add_balance(balance);
    }
    ObserveTelemetry(batch, kNoJobs, observations);
    KeepReportingRanksMetrics(kNoJobs, observations, batch);
    return batch.records_size();
  };
  const AttemptObservation& attempt = observations.attempts.at({1, 1});
  EXPECT_EQ(send(1, 20, 8), 0);
  EXPECT_TRUE(attempt.experts.Problems().empty());
  EXPECT_EQ(send(0, 20, 8), kExpertRecordsInARow);
  EXPECT_EQ(attempt.experts.Problems().size(), 1u);
}

TEST(TelemetryProgressTest, OnlyTheReportingRanksDataReportsAreStored) {
  Observations observations;
  ObserveTelemetry(MetricsOf(10, 20, 2), kNoJobs, observations);
  const auto kept = [&](int rank) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(1);
    batch.mutable_stream()->set_attempt(1);
    batch.mutable_stream()->set_rank(rank);
    batch.add_records()->mutable_data_report()->set_number(1);
    KeepReportingRanksMetrics(kNoJobs, observations, batch);
    return batch.records_size();
  };
  EXPECT_EQ(kept(1), 0);
  EXPECT_EQ(kept(0), 1);
}

}  // namespace
}  // namespace trainyard::controller
