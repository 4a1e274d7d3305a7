#include "controller/core/observations/late_reports.h"

#include "controller/core/observations/observe.h"
#include "gtest/gtest.h"
#include "tests/controller/core/dependent_jobs.h"

namespace trainyard::controller {
namespace {

class LateReportsTest : public ::testing::Test {
 protected:
  LateReportsTest() {
    cluster_.AddNode("a", 2);
    job_ = cluster_.Submit("job", 1, 1);
    cluster_.RunJob(job_);
  }

  bool MayReport() const {
    return MayReportCheckpoints(cluster_.state.jobs.at(job_), cluster_.observations,
                                cluster_.options, cluster_.now);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(LateReportsTest, AWorkerMayReportUntilItHasForgottenTheAttempt) {
  cluster_.Report("a", job_);
  cluster_.Pass(1000);
  FinishJob(cluster_, job_, 0);
  EXPECT_TRUE(MayReport());
  cluster_.ForgetReport("a", job_);
  cluster_.Pass(1000);
  EXPECT_FALSE(MayReport());
}

// The job may end before the worker's first heartbeat with the attempt.
TEST_F(LateReportsTest, AWorkerMayReportAnAttemptThatWasJustStarted) {
  FinishJob(cluster_, job_, 0);
  EXPECT_FALSE(MayReport());
  ObserveStartSent("a", {job_, 1}, cluster_.observations);
  EXPECT_TRUE(MayReport());
}

// A process that survives SIGKILL keeps its files open.
TEST_F(LateReportsTest, TheWaitForAnAttachedWorkerIsLimited) {
  cluster_.Report("a", job_);
  cluster_.Pass(1000);
  FinishJob(cluster_, job_, 0);
  cluster_.now += cluster_.options.lease_ms - 1;
  EXPECT_TRUE(MayReport());
  cluster_.now += 1;
  EXPECT_FALSE(MayReport());
}

TEST_F(LateReportsTest, TheWaitForADisconnectedWorkerIsShort) {
  FinishJob(cluster_, job_, 0);
  ObserveDetached("a", cluster_.observations);
  cluster_.now += cluster_.options.return_within_ms - 1;
  EXPECT_TRUE(MayReport());
  cluster_.now += 1;
  EXPECT_FALSE(MayReport());
  // A restarted controller waits for the workers again.
  Observations restarted;
  restarted.since_ms = cluster_.now;
  const JobEntry& entry = cluster_.state.jobs.at(job_);
  EXPECT_TRUE(MayReportCheckpoints(entry, restarted, cluster_.options, cluster_.now));
}

}  // namespace
}  // namespace trainyard::controller
