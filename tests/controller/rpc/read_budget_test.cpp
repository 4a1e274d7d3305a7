#include "controller/rpc/read_budget.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::controller {
namespace {

TEST(ReadBudgetTest, ResumesWaitersOnceThereIsCapacity) {
  ReadBudget budget(100);
  int resumed = 0;
  const auto resume = [&] { ++resumed; };
  budget.Take(60);
  const int one = 1, other = 2;
  EXPECT_TRUE(budget.AcquireOrWait(&one, resume));
  budget.Take(60);
  EXPECT_FALSE(budget.AcquireOrWait(&one, resume));
  EXPECT_FALSE(budget.AcquireOrWait(&other, resume));
  budget.Release(10);
  EXPECT_EQ(resumed, 0);
  budget.Release(60);
  EXPECT_EQ(resumed, 2);
  budget.Release(50);
  EXPECT_EQ(resumed, 2);
}

TEST(ReadBudgetTest, AWaiterThatAsksAgainIsResumedOnce) {
  ReadBudget budget(100);
  budget.Take(100);
  std::string resumed;
  EXPECT_FALSE(budget.AcquireOrWait(&budget, [&] { resumed += "old"; }));
  EXPECT_FALSE(budget.AcquireOrWait(&budget, [&] { resumed += "new"; }));
  budget.Release(100);
  EXPECT_EQ(resumed, "new");
}

TEST(ReadBudgetTest, WhoIsResumedMayAskAgain) {
  ReadBudget budget(100);
  budget.Take(100);
  bool room = false;
  EXPECT_FALSE(budget.AcquireOrWait(&room, [&] { room = budget.AcquireOrWait(&room, [] {}); }));
  budget.Release(100);
  EXPECT_TRUE(room);
}

}  // namespace
}  // namespace trainyard::controller
