#include "controller/core/state/gang.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

// Workers name members, so any number may come.
TEST(GangTest, AMemberOutsideOfTheAttemptIsNotFound) {
  ClusterState state;
  v1::Attempt& attempt = *state.jobs[1].job.add_attempts();
  attempt.set_number(1);
  for (const int rank : {0, 1}) attempt.add_ranks()->set_rank(rank);
  // The list keeps the memory of the last member.
  attempt.mutable_ranks()->RemoveLast();
  EXPECT_EQ(FindMember(state, {1, 1}, 0), &attempt.ranks(0));
  EXPECT_EQ(FindMember(state, {1, 1}, 1), nullptr);
  EXPECT_EQ(FindMember(state, {1, 1}, -1), nullptr);
  EXPECT_EQ(FindMember(state, {1, 2}, 0), nullptr) << "of another attempt";
}

}  // namespace
}  // namespace trainyard::controller
