#include "trainer/parallel/slot_pool.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

TEST(SlotPoolTest, TakesTheFreeSlotWithTheSmallestNumber) {
  const auto pool = std::make_shared<SlotPool>(3);
  auto first = SlotPool::Take(pool);
  const auto second = SlotPool::Take(pool);
  const auto third = SlotPool::Take(pool);
  EXPECT_EQ(first->slot(), 0);
  EXPECT_EQ(second->slot(), 1);
  EXPECT_EQ(third->slot(), 2);
  EXPECT_EQ(SlotPool::Take(pool), nullptr);
  first.reset();
  first = SlotPool::Take(pool);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->slot(), 0);
}

TEST(SlotPoolTest, ALeaseMayOutliveItsPool) {
  auto pool = std::make_shared<SlotPool>(1);
  const std::weak_ptr<SlotPool> watched = pool;
  auto lease = SlotPool::Take(pool);
  pool.reset();
  EXPECT_FALSE(watched.expired());
  lease.reset();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace trainyard::trainer
