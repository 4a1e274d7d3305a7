#include "controller/core/state/nodes/capacity.h"

#include <gtest/gtest.h>

#include <numeric>

namespace trainyard::controller {
namespace {

// The beginning of an hour.
constexpr Timestamp kHourBegin = 400'000 * kHourMs;

int64_t SlotTimeOf(const v1::CapacityHistory& capacity) {
  return std::accumulate(capacity.slot_ms().begin(), capacity.slot_ms().end(), int64_t{0});
}

v1::CapacityHistory FourSlots(Timestamp since, Timestamp until) {
  v1::CapacityHistory capacity;
  CountCapacity(4, since, capacity);
  CountCapacity(4, until, capacity);
  return capacity;
}

TEST(CapacityTest, AStepByWholeHoursMovesTheHours) {
  const v1::CapacityHistory before = FourSlots(kHourBegin + 600'000, kHourBegin + 2 * kHourMs + 7);
  v1::CapacityHistory moved = before;
  ShiftCapacity(-24 * kHourMs, moved);
  EXPECT_EQ(moved.first_hour(), before.first_hour() - 24);
  EXPECT_EQ(moved.since_ms(), before.since_ms() - 24 * kHourMs);
  EXPECT_EQ(moved.until_ms(), before.until_ms() - 24 * kHourMs);
  EXPECT_EQ(std::vector(moved.slot_ms().begin(), moved.slot_ms().end()),
            std::vector(before.slot_ms().begin(), before.slot_ms().end()));
}

TEST(CapacityTest, AStepWithinAnHourSplitsTheHoursAndKeepsTheSum) {
  const v1::CapacityHistory before = FourSlots(kHourBegin, kHourBegin + 3 * kHourMs);
  for (const int64_t step : {int64_t{900'001}, int64_t{-900'001}, 50 * kHourMs + 1}) {
    v1::CapacityHistory moved = before;
    ShiftCapacity(step, moved);
    EXPECT_EQ(SlotTimeOf(moved), SlotTimeOf(before)) << step;
    EXPECT_EQ(moved.until_ms(), before.until_ms() + step);
    ASSERT_EQ(moved.slot_ms_size(), 4) << step;
    EXPECT_NEAR(static_cast<double>(moved.slot_ms(1)), 4.0 * kHourMs, 1) << step;
  }
}

TEST(CapacityTest, AHistoryOfAFullYearBeginsWhereCountingBegan) {
  constexpr int kHoursKept = 366 * 24;
  v1::CapacityHistory capacity =
      FourSlots(kHourBegin + 600'000, kHourBegin + kHoursKept * kHourMs - 1);
  EXPECT_EQ(capacity.slot_ms_size(), kHoursKept);
  EXPECT_EQ(capacity.since_ms(), kHourBegin + 600'000);
  CountCapacity(4, kHourBegin + kHoursKept * kHourMs + 1, capacity);
  EXPECT_EQ(capacity.slot_ms_size(), kHoursKept);
  EXPECT_EQ(capacity.since_ms(), kHourBegin + kHourMs) << "one hour is dropped";
}

TEST(CapacityTest, WithoutAHistoryNothingMoves) {
  v1::CapacityHistory capacity;
  ShiftCapacity(1000, capacity);
  EXPECT_EQ(capacity.since_ms(), 0);
  CountCapacity(1, kHourBegin, capacity);
  ShiftCapacity(1000, capacity);
  EXPECT_EQ(capacity.since_ms(), kHourBegin + 1000);
  EXPECT_EQ(capacity.until_ms(), kHourBegin + 1000);
}

TEST(CapacityTest, CountingBeginsAfterTheFirstMomentOfTheClock) {
  v1::CapacityHistory capacity;
  CountCapacity(4, 0, capacity);
  EXPECT_EQ(capacity.since_ms(), 0);
  CountCapacity(4, 1, capacity);
  EXPECT_EQ(capacity.since_ms(), 1);
}

TEST(CapacityTest, AfterAGapLongerThanTheHistoryCountingRestartsAtTheOldestHour) {
  constexpr int kHoursKept = 366 * 24;
  const v1::CapacityHistory capacity = FourSlots(kHourBegin, kHourBegin + 20'000 * kHourMs);
  EXPECT_EQ(capacity.slot_ms_size(), kHoursKept);
  EXPECT_EQ(capacity.since_ms(), kHourBegin + (20'000 - kHoursKept) * kHourMs);
  EXPECT_EQ(capacity.first_hour() * kHourMs, capacity.since_ms());
  EXPECT_EQ(SlotTimeOf(capacity), 4 * kHoursKept * kHourMs);
}

TEST(CapacityTest, AStepByWholeHoursAddsNoHourBehindACompleteOne) {
  v1::CapacityHistory capacity = FourSlots(kHourBegin, kHourBegin + 2 * kHourMs);
  ASSERT_EQ(capacity.slot_ms_size(), 2);
  ShiftCapacity(24 * kHourMs, capacity);
  EXPECT_EQ(capacity.slot_ms_size(), 2);
}

TEST(CapacityTest, AnHourAfterTheEndOfTheHistoryIsNotMoved) {
  v1::CapacityHistory capacity = FourSlots(kHourBegin, kHourBegin + kHourMs);
  capacity.add_slot_ms(0);
  ShiftCapacity(900'001, capacity);
  EXPECT_EQ(capacity.slot_ms_size(), 2);
  EXPECT_EQ(SlotTimeOf(capacity), 4 * kHourMs);
  EXPECT_EQ(capacity.until_ms(), kHourBegin + kHourMs + 900'001);
}

TEST(CapacityTest, AStepWithinAnHourKeepsTheLengthOfAFullHistory) {
  constexpr int kHoursKept = 366 * 24;
  v1::CapacityHistory capacity = FourSlots(kHourBegin, kHourBegin + kHoursKept * kHourMs);
  ASSERT_EQ(capacity.slot_ms_size(), kHoursKept);
  ShiftCapacity(900'001, capacity);
  EXPECT_EQ(capacity.slot_ms_size(), kHoursKept);
  EXPECT_EQ(capacity.since_ms(), kHourBegin + kHourMs) << "one hour is dropped";
}

TEST(CapacityTest, AHistoryIsContinuedToThePresentWithTheSlotsOfTheState) {
  ClusterState state;
  state.present_slots = 4;
  EXPECT_EQ(CapacityUntil(state, 11).until_ms(), 0) << "counting has not begun";
  CountCapacity(4, 1, state.capacity);
  EXPECT_EQ(CapacityUntil(state, 11).until_ms(), 11);
  EXPECT_EQ(SlotTimeOf(CapacityUntil(state, 11)), 40);
}

}  // namespace
}  // namespace trainyard::controller
