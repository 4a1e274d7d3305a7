#include "controller/core/state/cluster_state.h"

#include "controller/core/state/slots/slot_ledger.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(ClusterStateTest, OnlyNumbersOfSubmittedJobsAreArchived) {
  ClusterState state;
  state.newest_job_id = 3;
  state.jobs[2].job.set_id(2);
  EXPECT_FALSE(IsArchived(state, 0));
  EXPECT_TRUE(IsArchived(state, 1));
  EXPECT_FALSE(IsArchived(state, 2)) << "in the state";
  EXPECT_TRUE(IsArchived(state, 3));
  EXPECT_FALSE(IsArchived(state, 4));
}

TEST(ClusterStateDeathTest, AJobThatLeavesBeforeItsEndEndsTheProcess) {
  ClusterState state;
  state.jobs[1].job.set_id(1);
  state.jobs[1].job.set_state(v1::JOB_STATE_RUNNING);
  RebuildIndexes(state);
  EXPECT_DEATH(RemoveEnded(1, state), "job 1 is removed but has not ended");
}

}  // namespace
}  // namespace trainyard::controller
