#include "controller/core/apply/ended_jobs.h"

#include "controller/core/state/slots/slot_ledger.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Jobs 1 and 2 have succeeded. Only job 1 has a request id.
class EndedJobsTest : public ::testing::Test {
 protected:
  EndedJobsTest() {
    for (const int64_t id : {1, 2}) {
      state_.jobs[id].job.set_id(id);
      state_.jobs[id].job.set_state(v1::JOB_STATE_SUCCEEDED);
    }
    state_.jobs[1].request_id = "request";
    state_.newest_job_id = 2;
    RebuildIndexes(state_);
  }

  ClusterState state_;
};

TEST_F(EndedJobsTest, TheRequestIdOfAForgottenJobIsFree) {
  ASSERT_THAT(state_.job_by_request_id, ElementsAre(Pair("request", 1)));
  ForgetJob(2, state_);
  EXPECT_THAT(state_.job_by_request_id, ElementsAre(Pair("request", 1)));
  ForgetJob(1, state_);
  EXPECT_THAT(state_.job_by_request_id, IsEmpty());
  EXPECT_THAT(state_.jobs, IsEmpty());
}

TEST_F(EndedJobsTest, ARequestIdThatANewerJobUsesStaysTaken) {
  state_.job_by_request_id["request"] = 2;
  ForgetJob(1, state_);
  EXPECT_THAT(state_.job_by_request_id, ElementsAre(Pair("request", 2)));
}

using EndedJobsDeathTest = EndedJobsTest;

TEST_F(EndedJobsDeathTest, ForgettingAJobThatWasNeverSubmittedEndsTheProcess) {
  EXPECT_DEATH(ForgetJob(3, state_), "job 3 was never submitted");
}

}  // namespace
}  // namespace trainyard::controller
