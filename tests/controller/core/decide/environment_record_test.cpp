#include "controller/core/decide/environment_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "controller/core/decide/decide_worker.h"
#include "proto/contract/limits.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ReceiveTelemetry ReportOf(int64_t job, int64_t attempt_number, const std::string& python) {
  ReceiveTelemetry request{job, attempt_number, 0, {}};
  request.record.mutable_environment()->set_interpreter_version(python);
  request.record.mutable_environment()->add_packages("torch==2.5.1");
  return request;
}

class EnvironmentRecordTest : public testing::Test {
 protected:
  EnvironmentRecordTest() {
    cluster_.AddNode("a", 1);
    job_ = cluster_.Submit("job", 1, 1);
    cluster_.RunJob(job_);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(EnvironmentRecordTest, TheFirstReportOfAnAttemptIsRecorded) {
  EXPECT_THAT(Kinds(cluster_.Do(ReportOf(job_, 1, "3.11.2"))), ElementsAre("EnvironmentRecorded"));
  const v1::EnvironmentRecord& record = cluster_.Job(job_).environment();
  EXPECT_EQ(record.attempt(), 1);
  EXPECT_EQ(record.interpreter_version(), "3.11.2");
  EXPECT_THAT(record.packages(), ElementsAre("torch==2.5.1"));
  EXPECT_THAT(cluster_.Do(ReportOf(job_, 1, "3.12")), IsEmpty());
  EXPECT_EQ(cluster_.Job(job_).environment().interpreter_version(), "3.11.2");
}

TEST_F(EnvironmentRecordTest, TheNewestAttemptReplacesOlderOnes) {
  cluster_.Do(ReportOf(job_, 1, "3.11.2"));
  cluster_.ExitAll(job_, 1);
  cluster_.ClearAll(job_);
  cluster_.Pass(1500);
  EXPECT_THAT(Kinds(cluster_.Do(ReportOf(job_, 2, "3.12"))), ElementsAre("EnvironmentRecorded"));
  EXPECT_EQ(cluster_.Job(job_).environment().attempt(), 2);
  EXPECT_EQ(cluster_.Job(job_).environment().interpreter_version(), "3.12");
  EXPECT_THAT(cluster_.Do(ReportOf(job_, 1, "3.11.2")), IsEmpty()) << "a late report";
  EXPECT_THAT(cluster_.Do(ReportOf(job_, 3, "3.13")), IsEmpty()) << "no such attempt";
  EXPECT_THAT(cluster_.Do(ReportOf(job_ + 1, 1, "3.13")), IsEmpty()) << "no such job";
}

TEST_F(EnvironmentRecordTest, TheSizeIsLimited) {
  ReceiveTelemetry report = ReportOf(job_, 1, std::string(10'000, '3'));
  v1::EnvironmentRecord& sent = *report.record.mutable_environment();
  sent.set_problem(std::string(10'000, 'x'));
  for (int i = 0; i < 20; ++i) sent.add_packages(std::string(1023, 'p'));
  cluster_.Do(report);
  const v1::EnvironmentRecord& record = cluster_.Job(job_).environment();
  EXPECT_EQ(record.interpreter_version().size(), kMaxEnvironmentTextBytes);
  EXPECT_EQ(record.problem().size(), kMaxEnvironmentTextBytes);
  EXPECT_EQ(record.packages_size(), 12);
  EXPECT_EQ(record.packages_omitted(), 9);
}

}  // namespace
}  // namespace trainyard::controller
