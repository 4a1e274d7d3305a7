#include "trainer/healing/buddies.h"

#include <gmock/gmock.h>

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;

Buddies BuddiesOf(LayoutConfig layout, int64_t local_world_size) {
  return Buddies(Mesh(layout), layout, local_world_size);
}

std::vector<int64_t> All(const Buddies& buddies) {
  std::vector<int64_t> all;
  for (int64_t rank = 0; rank < buddies.size(); ++rank) {
    all.push_back(buddies.BuddyOf(rank));
    EXPECT_EQ(buddies.WardOf(buddies.BuddyOf(rank)), rank);
  }
  return all;
}

TEST(BuddiesTest, NeighboursOnOneNode) {
  const Buddies buddies = BuddiesOf({.dp = 4}, 4);
  EXPECT_THAT(All(buddies), ElementsAre(1, 2, 3, 0));
  EXPECT_TRUE(buddies.have_equal_parameters());
}

TEST(BuddiesTest, OnAnotherNodeWhereThereIsOne) {
  EXPECT_THAT(All(BuddiesOf({.dp = 4}, 2)), ElementsAre(2, 3, 0, 1));
  EXPECT_THAT(All(BuddiesOf({.dp = 6, .zero = 1}, 2)), ElementsAre(2, 3, 4, 5, 0, 1));
}

TEST(BuddiesTest, OfEqualParametersWithoutShards) {
  const Buddies buddies = BuddiesOf({.tp = 2, .dp = 2}, 4);
  EXPECT_THAT(All(buddies), ElementsAre(2, 3, 0, 1));
  EXPECT_TRUE(buddies.have_equal_parameters());
}

TEST(BuddiesTest, OfAnyParametersWhereNoneAreEqual) {
  EXPECT_FALSE(BuddiesOf({.tp = 2, .dp = 1, .pp = 2}, 4).have_equal_parameters());
  EXPECT_FALSE(BuddiesOf({.dp = 4, .zero = 1}, 4).have_equal_parameters());
  EXPECT_THAT(All(BuddiesOf({.tp = 2, .dp = 1, .pp = 2}, 4)), ElementsAre(1, 2, 3, 0));
}

TEST(PlanRecoveryTest, NewestStepThatAllHave) {
  const Buddies buddies = BuddiesOf({.dp = 3}, 3);
  // Rank 1 is new. Rank 0's own state is one step older than rank 2's. Rank 2 also has the state of
  // the former rank 1.
  const RecoveryPlan plan = PlanRecovery({{{7, 8}, {7, 8}}, {{}, {}}, {{8, 9}, {8, 9}}}, buddies);
  EXPECT_EQ(plan.step, 8);
  EXPECT_THAT(plan.receivers, ElementsAre(1));
  EXPECT_EQ(plan.first_holder, 0);
}

// Ranks 0 and 2 completed step 9, but the lost rank 1 had abandoned that step. Step 9 must not be
// used, although every part of its state exists on some rank.
TEST(PlanRecoveryTest, AStepThatARankHadLeftIsNotTaken) {
  const Buddies buddies = BuddiesOf({.dp = 4}, 4);
  const RecoveryPlan plan =
      PlanRecovery({{{8, 9}, {8, 9}}, {{7, 8}, {7, 8}}, {{8, 9}, {8, 9}}, {{}, {}}}, buddies);
  EXPECT_EQ(plan.step, 8);
  EXPECT_THAT(plan.receivers, ElementsAre(3));
}

TEST(PlanRecoveryTest, FirstHolderIsNotTheNewRank) {
  const RecoveryPlan plan =
      PlanRecovery({{{}, {}}, {{8}, {8}}, {{8}, {8}}}, BuddiesOf({.dp = 3}, 3));
  EXPECT_EQ(plan.step, 8);
  EXPECT_EQ(plan.first_holder, 1);
}

TEST(PlanRecoveryTest, StateOfARankAndItsBuddyIsLost) {
  const RecoveryPlan plan =
      PlanRecovery({{{8}, {8}}, {{}, {}}, {{}, {}}, {{8}, {8}}}, BuddiesOf({.dp = 4}, 4));
  EXPECT_EQ(plan.step, -1);
  EXPECT_THAT(plan.receivers, ElementsAre(1));
}

}  // namespace
}  // namespace trainyard::trainer
