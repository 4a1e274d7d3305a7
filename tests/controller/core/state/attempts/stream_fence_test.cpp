#include "controller/core/state/attempts/stream_fence.h"

#include <gtest/gtest.h>

namespace trainyard::controller {
namespace {

v1::StreamId StreamIdOf(int64_t job_id, int64_t attempt_number, int rank) {
  v1::StreamId id;
  id.set_job_id(job_id);
  id.set_attempt(attempt_number);
  id.set_rank(rank);
  id.set_kind(v1::STREAM_KIND_LOG);
  return id;
}

// Job 1 runs attempt 3, with rank 0 on node a and rank 1 on node b. The ranks of attempt 2 are no
// longer stored.
class StreamFenceTest : public testing::Test {
 protected:
  StreamFenceTest() {
    JobEntry& entry = state_.jobs[1];
    entry.job.set_id(1);
    entry.job.add_attempts()->set_number(2);
    v1::Attempt& newest = *entry.job.add_attempts();
    newest.set_number(3);
    for (const char* node : {"a", "b"}) {
      v1::RankPlacement& rank = *newest.add_ranks();
      rank.set_rank(newest.ranks_size() - 1);
      rank.set_node_id(node);
    }
  }

  StreamFence Fence(const char* node, const v1::StreamId& stream) const {
    return FenceStream(state_, node, stream);
  }

  ClusterState state_;
};

TEST_F(StreamFenceTest, ANodeSpeaksForItsOwnRanks) {
  EXPECT_EQ(Fence("a", StreamIdOf(1, 3, 0)), StreamFence::kAccepted);
  EXPECT_EQ(Fence("b", StreamIdOf(1, 3, 1)), StreamFence::kAccepted);
  EXPECT_EQ(Fence("a", StreamIdOf(1, 3, 1)), StreamFence::kForeign);
  EXPECT_EQ(Fence("b", StreamIdOf(1, 3, 0)), StreamFence::kForeign);
  EXPECT_EQ(Fence("a", StreamIdOf(1, 3, 2)), StreamFence::kForeign);
  EXPECT_EQ(Fence("a", StreamIdOf(1, 3, -1)), StreamFence::kForeign);
}

TEST_F(StreamFenceTest, ReportsOfOthersRanksAreRemoved) {
  v1::AttemptReport report;
  report.set_job_id(1);
  report.set_attempt(3);
  for (const int rank : {-1, 0, 1, 2, 70'000}) report.add_ranks()->set_rank(rank);
  KeepOwnRanks(state_, "b", report);
  ASSERT_EQ(report.ranks_size(), 1);
  EXPECT_EQ(report.ranks(0).rank(), 1);
}

TEST_F(StreamFenceTest, AttemptsThatWereNeverPlacedAreForeign) {
  EXPECT_EQ(Fence("a", StreamIdOf(1, 4, 0)), StreamFence::kForeign);
  EXPECT_EQ(Fence("a", StreamIdOf(1, 0, 0)), StreamFence::kForeign);
  state_.jobs[2].job.set_id(2);
  EXPECT_EQ(Fence("a", StreamIdOf(2, 1, 0)), StreamFence::kForeign);
}

TEST_F(StreamFenceTest, OldAttemptsWithoutRanksAreAccepted) {
  EXPECT_EQ(Fence("c", StreamIdOf(1, 2, 0)), StreamFence::kAccepted);
  EXPECT_EQ(Fence("c", StreamIdOf(1, 1, 0)), StreamFence::kAccepted);
}

TEST_F(StreamFenceTest, WhatARestoreHasLostIsNotForeign) {
  EXPECT_EQ(Fence("a", StreamIdOf(9, 1, 0)), StreamFence::kUnknownJob);
  state_.restored_jobs_below = 10;
  state_.lost_jobs[2] = 10;
  state_.restored_attempt = 100;
  EXPECT_EQ(Fence("a", StreamIdOf(9, 1, 0)), StreamFence::kLostToRestore);
  EXPECT_EQ(Fence("a", StreamIdOf(1, 50, 0)), StreamFence::kAccepted);
  EXPECT_EQ(Fence("a", StreamIdOf(1, 100, 0)), StreamFence::kForeign);
}

TEST_F(StreamFenceTest, StreamsOfAnArchivedJobAreJudgedByItsRecord) {
  const JobEntry entry = state_.jobs.at(1);
  state_.newest_job_id = 1;
  state_.jobs.erase(1);
  EXPECT_EQ(Fence("a", StreamIdOf(1, 3, 0)), StreamFence::kArchived);
  EXPECT_EQ(Fence("a", StreamIdOf(2, 1, 0)), StreamFence::kUnknownJob);
  EXPECT_EQ(FenceStreamOf(entry, state_, "c", StreamIdOf(1, 2, 0)), StreamFence::kAccepted);
  EXPECT_EQ(FenceStreamOf(entry, state_, "c", StreamIdOf(1, 100, 0)), StreamFence::kForeign);
}

TEST_F(StreamFenceTest, AJobSubmittedAfterARestoreHasNoLostAttempts) {
  state_.restored_attempt = 100;
  state_.restored_jobs_below = 1;
  EXPECT_EQ(Fence("a", StreamIdOf(1, 50, 0)), StreamFence::kForeign);
  state_.restored_jobs_below = 2;
  EXPECT_EQ(Fence("a", StreamIdOf(1, 50, 0)), StreamFence::kAccepted);
}

}  // namespace
}  // namespace trainyard::controller
