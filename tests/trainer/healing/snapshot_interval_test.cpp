#include "trainer/healing/snapshot_interval.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

TEST(SnapshotIntervalTest, EveryStepWhileThatIsCheap) {
  SnapshotInterval interval;
  EXPECT_EQ(interval.steps(), 1);
  interval.Add(0.019);
  EXPECT_EQ(interval.steps(), 1);
}

TEST(SnapshotIntervalTest, StaysUnderItsShareOfTheTime) {
  SnapshotInterval interval;
  interval.Add(0.5);
  EXPECT_EQ(interval.steps(), 25);
  for (int i = 0; i < 100; ++i) interval.Add(0.05);
  EXPECT_EQ(interval.steps(), 3);
  EXPECT_LE(interval.cost() / static_cast<double>(interval.steps()), SnapshotInterval::kShare);
}

TEST(SnapshotIntervalTest, OneDelayedSnapshotCountsLittle) {
  SnapshotInterval interval;
  for (int i = 0; i < 100; ++i) interval.Add(0.01);
  interval.Add(0.05);
  EXPECT_EQ(interval.steps(), 1);
}

TEST(SnapshotIntervalTest, GoesOnFromAnotherRank) {
  SnapshotInterval known, fresh;
  known.Add(0.3);
  fresh.Set(known.cost(), known.is_known());
  known.Add(0.1);
  fresh.Add(0.1);
  EXPECT_EQ(known.cost(), fresh.cost());
  EXPECT_EQ(known.steps(), fresh.steps());
}

}  // namespace
}  // namespace trainyard::trainer
