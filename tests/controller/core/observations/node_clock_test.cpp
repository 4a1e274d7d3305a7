#include "controller/core/observations/node_clock.h"

#include <limits>
#include <optional>
#include <utility>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

constexpr Timestamp kNow = 1'000'000;
constexpr int64_t kAhead = 300'000;

TEST(NodeClockTest, TheSmallestDelayOfTheWindowIsTheTruest) {
  NodeClock clock;
  EXPECT_EQ(clock.AheadMs(), std::nullopt);
  clock.Note(kNow + kAhead - 40, kNow);
  EXPECT_EQ(clock.AheadMs(), kAhead - 40);
  clock.Note(kNow + kAhead + 1000 - 3, kNow + 1000);
  EXPECT_EQ(clock.AheadMs(), kAhead - 3);
  clock.Note(kNow + kAhead + 6000 - 900, kNow + 6000);
  EXPECT_EQ(clock.AheadMs(), kAhead - 3);
}

TEST(NodeClockTest, AClockThatWasSetBackCountsOnceTheWindowIsOver) {
  NodeClock clock;
  clock.Note(kNow + kAhead, kNow);
  clock.Note(kNow + kClockWindowMs - 1, kNow + kClockWindowMs - 1);
  EXPECT_EQ(clock.AheadMs(), kAhead);
  clock.Note(kNow + kClockWindowMs, kNow + kClockWindowMs);
  EXPECT_EQ(clock.AheadMs(), 0);
}

TEST(NodeClockTest, AStepOfTheControllersClockChangesTheOffset) {
  NodeClock clock;
  clock.Note(kNow + kAhead, kNow);
  clock.Shift(-500'000);
  EXPECT_EQ(clock.AheadMs(), kAhead + 500'000);
  clock.Note(kNow + kClockWindowMs, kNow - 500'000 + kClockWindowMs);
  EXPECT_EQ(clock.AheadMs(), 500'000) << "the window goes on";
}

TEST(NodeClockTest, TimesThatNoClockShowsAreLeftOut) {
  NodeClock clock;
  for (const int64_t time : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
                             std::numeric_limits<int64_t>::max()}) {
    clock.Note(time, kNow);
    EXPECT_EQ(clock.AheadMs(), std::nullopt) << time;
    EXPECT_EQ(CorrectedTime(time, 0, kNow), 0) << time;
  }
}

TEST(NodeClockTest, ACorrectedTimeIsNoLaterThanItsMessage) {
  EXPECT_EQ(CorrectedTime(kNow + kAhead - 7, kAhead, kNow), kNow - 7);
  EXPECT_EQ(CorrectedTime(kNow + kAhead + 7, kAhead, kNow), kNow);
  EXPECT_EQ(CorrectedTime(kNow, std::nullopt, kNow), 0);
  EXPECT_EQ(CorrectedTime(5, kAhead, kNow), 1) << "0 would say that it is not known";
  EXPECT_EQ(CorrectedTime(5, 0, 1), 1);
}

TEST(NodeClockTest, TimesFromTheFirstMillisecondToTheYear10000Count) {
  constexpr int64_t kYear10000 = 253'402'300'800'000;
  const auto ahead = [](int64_t node_ms) {
    NodeClock clock;
    clock.Note(node_ms, kNow);
    return clock.AheadMs();
  };
  EXPECT_EQ(ahead(1), 1 - kNow);
  EXPECT_EQ(ahead(kYear10000 - 1), kYear10000 - 1 - kNow);
  EXPECT_EQ(ahead(kYear10000), std::nullopt);
}

// All messages within kClockBucketMs share one entry, so all leave the window together.
TEST(NodeClockTest, MessagesOfFiveSecondsAreKeptAsOne) {
  for (const auto& [later_ms, ahead_ms] :
       {std::pair(kClockBucketMs - 1, int64_t{-50}), std::pair(kClockBucketMs, int64_t{100})}) {
    NodeClock clock;
    clock.Note(kNow, kNow);
    clock.Note(kNow + later_ms + 100, kNow + later_ms);
    EXPECT_EQ(clock.AheadMs(), 100);
    clock.Note(kNow + kClockWindowMs - 50, kNow + kClockWindowMs);
    EXPECT_EQ(clock.AheadMs(), ahead_ms) << later_ms;
  }
}

}  // namespace
}  // namespace trainyard::controller
