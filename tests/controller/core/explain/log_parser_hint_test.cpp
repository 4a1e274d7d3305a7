#include "controller/core/explain/log_parser_hint.h"

#include <string>

#include "controller/core/explain/explain.h"
#include "controller/core/observations/observe_telemetry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class LogParserHintTest : public ::testing::Test {
 protected:
  LogParserHintTest() {
    cluster_.AddNode("a", 2);
    v1::JobSpec spec = TestSpec("job", 1, 2);
    spec.mutable_log_parser()->set_kind(v1::LOG_PARSER_KIND_MEGATRON);
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
  }

  // Reports, as the worker of node a, that this number of lines of rank 1 contained no step.
  void ReportUnmatched(int64_t lines) {
    cluster_.ReportRunning("a", job_, 2).mutable_ranks(1)->set_unmatched_lines(lines);
    cluster_.Pass(1000);
  }

  std::optional<v1::PendingReason> Reason() const {
    return WhyNoMetrics(cluster_.observations, cluster_.state.jobs.at(job_));
  }

  v1::WhyJobResponse Why() const {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job_));
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(LogParserHintTest, NamesParserRankAndNextStep) {
  ReportUnmatched(kManyUnmatchedLines - 1);
  EXPECT_FALSE(Reason().has_value());
  EXPECT_EQ(Why().pending().code(), v1::PENDING_CODE_NOT_PENDING);
  ReportUnmatched(kManyUnmatchedLines);
  const v1::WhyJobResponse why = Why();
  EXPECT_EQ(why.pending().code(), v1::PENDING_CODE_NO_METRICS);
  EXPECT_EQ(why.pending().message(),
            "log_parser megatron has found no step in 1000 or more lines of the output of rank 1, "
            "so there are no metrics");
  EXPECT_THAT(why.pending().advice(), HasSubstr("`trainyard logs 1 --rank 1"));
  EXPECT_THAT(why.pending().advice(), HasSubstr("log_parser.rank"));
  EXPECT_THAT(why.answer(), HasSubstr("no step has been reported yet; log_parser megatron"));
}

TEST_F(LogParserHintTest, TheFirstRankIsNamedLikeAnyOther) {
  ReportUnmatched(0);
  cluster_.Report("a", job_).mutable_ranks(0)->set_unmatched_lines(kManyUnmatchedLines);
  cluster_.Pass(1000);
  ASSERT_TRUE(Reason().has_value());
  EXPECT_THAT(Reason()->message(), HasSubstr("the output of rank 0,"));
}

TEST_F(LogParserHintTest, MoreLinesAreNoNewReason) {
  ReportUnmatched(5000);
  const std::string before = Reason()->SerializeAsString();
  ReportUnmatched(6000);
  EXPECT_EQ(Reason()->SerializeAsString(), before);
}

TEST_F(LogParserHintTest, EndsWithTheFirstStep) {
  ReportUnmatched(5000);
  ASSERT_TRUE(Reason().has_value());
  ReportUnmatched(0);
  EXPECT_FALSE(Reason().has_value());
}

TEST_F(LogParserHintTest, MetricsOfTelemetryAreEnough) {
  ReportUnmatched(5000);
  cluster_.Step(job_, 0, 5, 0.5);
  EXPECT_FALSE(Reason().has_value());
  EXPECT_THAT(Why().answer(), Not(HasSubstr("log_parser")));
}

TEST_F(LogParserHintTest, OnlyRunningJobsHaveIt) {
  ReportUnmatched(5000);
  cluster_.Stop(job_);
  EXPECT_FALSE(Reason().has_value());
}

TEST_F(LogParserHintTest, TheEndOfTheJobTellsItWhateverTheNumberOfLines) {
  ReportUnmatched(12);
  EXPECT_FALSE(Reason().has_value());
  cluster_.ExitAll(job_, 0);
  cluster_.ClearAll(job_);
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(
      cluster_.Job(job_).verdict().summary(),
      "all 2 ranks exited with 0; log_parser megatron found no step in 12 lines of the output "
      "of rank 1, so there are no metrics");
}

TEST_F(LogParserHintTest, TheEndOfAJobWithMetricsTellsNothing) {
  ReportUnmatched(12);
  cluster_.Step(job_, 0, 5, 0.5);
  cluster_.ExitAll(job_, 0);
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.Job(job_).verdict().summary(), "all 2 ranks exited with 0");
}

TEST_F(LogParserHintTest, AJobThatFailedMayHaveHadNoStep) {
  ReportUnmatched(12);
  for (int i = 0; i < 2; ++i) {
    cluster_.ExitAll(job_, 1);
    cluster_.ClearAll(job_);
    cluster_.Pass(2000);
    cluster_.StartAll(job_);
  }
  EXPECT_THAT(cluster_.Job(job_).verdict().summary(), Not(HasSubstr("log_parser")));
}

class BadTelemetryTest : public LogParserHintTest {
 protected:
  void SendBadLines(int count, const std::string& first) {
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(job_);
    batch.mutable_stream()->set_attempt(1);
    batch.mutable_stream()->set_rank(1);
    batch.set_bad_lines(count);
    batch.set_bad_line(first);
    ObserveTelemetry(batch, cluster_.state, cluster_.observations);
  }
};

TEST_F(BadTelemetryTest, IsCountedAndShown) {
  ReportUnmatched(0);
  EXPECT_THAT(Why().findings(), IsEmpty());
  SendBadLines(2, "`time_ms` is not a number of at least 0: {\"time_ms\": \"now\"}");
  SendBadLines(1, "later");
  ASSERT_THAT(Why().findings(), SizeIs(1));
  EXPECT_EQ(Why().findings(0).what(), "3 lines of telemetry could not be read");
  EXPECT_EQ(Why().findings(0).why(),
            "the first one, of rank 1: `time_ms` is not a number of at least 0: {\"time_ms\": "
            "\"now\"}");
  EXPECT_EQ(Why().pending().code(), v1::PENDING_CODE_NO_METRICS);
  EXPECT_THAT(Why().answer(), HasSubstr("the telemetry of rank 1 cannot be read"));
  cluster_.Step(job_, 0, 5, 0.5);
  EXPECT_FALSE(Reason().has_value()) << "other lines can be read";
  EXPECT_THAT(Why().findings(), SizeIs(1));
}

}  // namespace
}  // namespace trainyard::controller
