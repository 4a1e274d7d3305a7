#include "controller/core/state/attempts/gang.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

// Member numbers come from workers, so they may have any value.
TEST(GangTest, AMemberOutsideOfTheAttemptIsNotFound) {
  ClusterState state;
  v1::Attempt& attempt = *state.jobs[1].job.add_attempts();
  attempt.set_number(1);
  for (const int rank : {0, 1}) attempt.add_ranks()->set_rank(rank);
  // RemoveLast keeps the removed member's memory allocated, so only a bounds check rejects this
  // member number.
  attempt.mutable_ranks()->RemoveLast();
  EXPECT_EQ(FindMember(state, {1, 1}, 0), &attempt.ranks(0));
  EXPECT_EQ(FindMember(state, {1, 1}, 1), nullptr);
  EXPECT_EQ(FindMember(state, {1, 1}, -1), nullptr);
  EXPECT_EQ(FindMember(state, {1, 2}, 0), nullptr) << "of another attempt";
}

// Returns an attempt with one rank on each of these nodes.
v1::Attempt GangOn(const std::vector<std::string>& nodes) {
  v1::Attempt attempt;
  attempt.set_number(1);
  for (const std::string& node_id : nodes) {
    v1::RankPlacement& rank = *attempt.add_ranks();
    rank.set_rank(attempt.ranks_size() - 1);
    rank.set_node_id(node_id);
  }
  return attempt;
}

TEST(GangTest, TrainingNodesIncludeThatOfTheFirstRank) {
  EXPECT_EQ(TrainingNodes(GangOn({"a", "b"})), 2);
  EXPECT_EQ(TrainingNodes(GangOn({"a", "b", "b"})), 2);
  EXPECT_EQ(TrainingNodes(GangOn({"a"})), 1);
}

TEST(GangTest, AMemberBehindTheLastOneHasNoPlace) {
  JobEntry entry;
  EXPECT_FALSE(IsSeated(entry, 0)) << "without an attempt";
  v1::Attempt& attempt = *entry.job.add_attempts();
  for (const int rank : {0, 1}) attempt.add_ranks()->set_rank(rank);
  attempt.mutable_ranks()->RemoveLast();
  EXPECT_TRUE(IsSeated(entry, 0));
  EXPECT_FALSE(IsSeated(entry, 1));
  EXPECT_FALSE(IsSeated(entry, -1));
}

TEST(GangTest, AGangWithoutExitsHasNotSucceeded) {
  JobEntry entry;
  EXPECT_FALSE(GangSucceeded(entry)) << "without an attempt";
  v1::Attempt& attempt = *entry.job.add_attempts();
  EXPECT_FALSE(GangSucceeded(entry)) << "an old attempt without members";
  attempt.add_ranks();
  EXPECT_FALSE(GangSucceeded(entry));
  entry.exited_ranks[0] = {};
  EXPECT_TRUE(GangSucceeded(entry));
}

TEST(GangDeathTest, APlaceThatTheGangDoesNotHaveEndsTheProcess) {
  const v1::Attempt attempt = GangOn({"a", "b"});
  EXPECT_EQ(MemberAt(attempt, 0).node_id(), "a");
  EXPECT_EQ(MemberAt(attempt, 1).node_id(), "b");
  // RemoveLast keeps the removed member's memory allocated, so only a bounds check rejects this
  // member number.
  v1::Attempt shrunk = attempt;
  shrunk.mutable_ranks()->RemoveLast();
  EXPECT_DEATH(MemberAt(shrunk, 1), "no member has place 1");
}

}  // namespace
}  // namespace trainyard::controller
