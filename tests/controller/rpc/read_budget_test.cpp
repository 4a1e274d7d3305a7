#include "controller/rpc/read_budget.h"

#include <gtest/gtest.h>

namespace trainyard::controller {
namespace {

TEST(ReadBudgetTest, ResumesWaitersOnceThereIsCapacity) {
  ReadBudget budget(100);
  int resumed = 0;
  const auto resume = [&] { ++resumed; };
  budget.Take(60);
  EXPECT_TRUE(budget.AcquireOrWait(resume));
  budget.Take(60);
  EXPECT_FALSE(budget.AcquireOrWait(resume));
  EXPECT_FALSE(budget.AcquireOrWait(resume));
  budget.Release(10);
  EXPECT_EQ(resumed, 0);
  budget.Release(60);
  EXPECT_EQ(resumed, 2);
  budget.Release(50);
  EXPECT_EQ(resumed, 2);
}

TEST(ReadBudgetTest, WhoIsResumedMayAskAgain) {
  ReadBudget budget(100);
  budget.Take(100);
  bool room = false;
  EXPECT_FALSE(budget.AcquireOrWait([&] { room = budget.AcquireOrWait([] {}); }));
  budget.Release(100);
  EXPECT_TRUE(room);
}

}  // namespace
}  // namespace trainyard::controller
