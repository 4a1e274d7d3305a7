#include "controller/core/observations/cluster_clock.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

constexpr Timestamp kWallMs = 1'700'000'000'000;
constexpr int64_t kSteadyMs = 5'000'000;
constexpr int64_t kStepDay = 86'400'000;

// Returns the clock of a state whose newest event was at wall time kWallMs and machine uptime
// kSteadyMs.
v1::ClusterClock KnownClock() {
  v1::ClusterClock known;
  known.set_boot_id("boot");
  known.set_boot_time_ms(kWallMs - kSteadyMs);
  known.set_newest_ms(kWallMs);
  return known;
}

TEST(ClusterClockTest, AClockWithoutASteadyOneIsSteadyItself) {
  const ClusterClock clock;
  EXPECT_EQ(clock.TimeAt({kWallMs, kWallMs}), kWallMs);
  EXPECT_EQ(clock.Due({kWallMs, kWallMs}), std::nullopt);
}

TEST(ClusterClockTest, ANewControllerBelievesItsFirstReadingAndNoLaterJump) {
  ClusterClock clock({}, "boot", {kWallMs, kSteadyMs});
  // The wall clock jumps before the first tick.
  const ClockReading first{kWallMs + kStepDay, kSteadyMs + 100};
  EXPECT_EQ(clock.TimeAt(first), kWallMs + 100);
  auto set = clock.Due(first);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->boot_id(), "boot");
  EXPECT_EQ(set->boot_time_ms(), kWallMs - kSteadyMs);
  EXPECT_EQ(set->step_ms(), 0);
  EXPECT_EQ(set->assumed_ms(), 0);
  EXPECT_EQ(clock.Take(*set), 0);
  clock.Committed();
  set = clock.Due(first);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->step_ms(), kStepDay - 100);
}

TEST(ClusterClockTest, ASteppedWallClockIsFollowedFromAWholeSecondOn) {
  ClusterClock clock(KnownClock(), "boot", {kWallMs, kSteadyMs});
  EXPECT_EQ(clock.Due({kWallMs, kSteadyMs}), std::nullopt);
  EXPECT_EQ(clock.Due({kWallMs + kClockStepMs - 1, kSteadyMs}), std::nullopt);
  EXPECT_EQ(clock.Due({kWallMs - kClockStepMs + 1, kSteadyMs}), std::nullopt);
  EXPECT_EQ(clock.Due({kWallMs + kClockStepMs, kSteadyMs})->step_ms(), kClockStepMs);
  const ClockReading back{kWallMs - kStepDay, kSteadyMs + 200};
  const auto set = clock.Due(back);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->step_ms(), -kStepDay - 200);
  EXPECT_EQ(clock.Take(*set), -kStepDay - 200);
  EXPECT_EQ(clock.TimeAt(back), back.wall_ms);
  EXPECT_EQ(clock.Due(back), std::nullopt);
  EXPECT_EQ(clock.TimeAt({kWallMs, kSteadyMs + 1200}), back.wall_ms + 1000)
      << "only steady time counts";
  clock.Undo(-kStepDay - 200);
  EXPECT_EQ(clock.TimeAt(back), kWallMs + 200);
}

TEST(ClusterClockTest, OnTheSameBootDowntimeIsSteadyTimeWhateverTheWallClockSays) {
  for (const int64_t jump : {kStepDay, -kStepDay}) {
    const ClockReading start{kWallMs + jump + 30'000, kSteadyMs + 30'000};
    const ClusterClock clock(KnownClock(), "boot", start);
    EXPECT_EQ(clock.TimeAt(start), kWallMs + 30'000);
    EXPECT_EQ(clock.Due(start)->step_ms(), jump);
    EXPECT_EQ(clock.Due(start)->assumed_ms(), 0);
  }
}

TEST(ClusterClockTest, AfterARebootTheWallClockMeasuresTheDowntime) {
  const ClockReading start{kWallMs + 90'000, 20'000};
  const ClusterClock clock(KnownClock(), "another boot", start);
  EXPECT_EQ(clock.TimeAt(start), kWallMs + 90'000);
  const auto set = clock.Due(start);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->boot_id(), "another boot");
  EXPECT_EQ(set->step_ms(), 0);
  EXPECT_EQ(set->assumed_ms(), 90'000);
  EXPECT_EQ(set->doubt(), "");
  const ClockReading late{kWallMs + kUndoubtedGapMs + 1, 20'000};
  EXPECT_NE(ClusterClock(KnownClock(), "another boot", late).Due(late)->doubt(), "");
}

// A standby on another machine takes over. Its wall clock is an hour ahead or behind.
TEST(ClusterClockTest, AWallClockThatDiffersFromTheMeasuredTimeMovesTheEvents) {
  constexpr int64_t kHourMs = 3'600'000;
  for (const int64_t error_ms : {kHourMs, -kHourMs}) {
    const ClockReading start{kWallMs + 2'000 + error_ms, 20'000};
    const ClusterClock clock(KnownClock(), "another boot", start, 2'000);
    EXPECT_EQ(clock.TimeAt(start), start.wall_ms);
    const auto set = clock.Due(start);
    ASSERT_TRUE(set.has_value());
    EXPECT_EQ(set->step_ms(), error_ms);
    EXPECT_EQ(set->assumed_ms(), 2'000);
    EXPECT_NE(set->doubt(), "");
  }
}

TEST(ClusterClockTest, AWallClockThatAgreesWithTheMeasuredTimeMeasuresTheDowntime) {
  for (const int64_t error_ms : {-kMeasuredGapToleranceMs, int64_t{0}, kMeasuredGapToleranceMs}) {
    const ClockReading start{kWallMs + 9'000 + error_ms, 20'000};
    const auto set = ClusterClock(KnownClock(), "another boot", start, 9'000).Due(start);
    ASSERT_TRUE(set.has_value());
    EXPECT_EQ(set->step_ms(), 0);
    EXPECT_EQ(set->assumed_ms(), 9'000 + error_ms);
    EXPECT_EQ(set->doubt(), "");
  }
}

TEST(ClusterClockTest, AfterARebootAClockBehindTheNewestEventMovesTheEvents) {
  const ClockReading start{kWallMs - kStepDay, 20'000};
  const ClusterClock clock(KnownClock(), "another boot", start);
  EXPECT_EQ(clock.TimeAt(start), kWallMs - kStepDay);
  const auto set = clock.Due(start);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->step_ms(), -kStepDay);
  EXPECT_EQ(set->assumed_ms(), 0);
  EXPECT_NE(set->doubt(), "");
}

TEST(ClusterClockTest, SteadyTimeBehindTheNewestEventIsThatOfAnotherMachine) {
  const ClockReading start{kWallMs + 5000, kSteadyMs - 60'000};
  const ClusterClock clock(KnownClock(), "boot", start);
  EXPECT_EQ(clock.TimeAt(start), kWallMs + 5000);
  EXPECT_EQ(clock.Due(start)->assumed_ms(), 5000);
}

TEST(ClusterClockTest, AWallClockThatWasNeverSetIsNotFollowed) {
  const ClockReading unset{3000, kSteadyMs + 1000};
  const ClusterClock same(KnownClock(), "boot", unset);
  EXPECT_EQ(same.TimeAt(unset), kWallMs + 1000);
  EXPECT_EQ(same.Due(unset), std::nullopt);
  const ClusterClock other(KnownClock(), "another boot", unset);
  EXPECT_EQ(other.TimeAt(unset), kWallMs);
  EXPECT_EQ(other.Due(unset)->step_ms(), 0);
  EXPECT_NE(other.Due(unset)->doubt(), "");
}

TEST(ClusterClockTest, AWallClockFromTheYear10000OnIsNotFollowed) {
  constexpr Timestamp kYear10000 = 253'402'300'800'000;
  const ClusterClock clock(KnownClock(), "boot", {kWallMs, kSteadyMs});
  EXPECT_TRUE(clock.Due({kYear10000 - 1, kSteadyMs}).has_value());
  EXPECT_EQ(clock.Due({kYear10000, kSteadyMs}), std::nullopt);
}

// Attaches a worker whose clock is ahead by `ahead_ms`.
void AttachAhead(const std::string& id, int64_t ahead_ms, Observations& observations) {
  observations.nodes[id].attached = true;
  observations.nodes[id].clock.Note(kWallMs + ahead_ms, kWallMs);
}

TEST(ClockWarningTest, WorkersWhoseClocksAgreeEndADoubt) {
  v1::ClusterClock known = KnownClock();
  known.set_doubt("the newest event is 30 h old");
  Observations observations;
  EXPECT_EQ(ClockWarning(known, observations), "the newest event is 30 h old");
  observations.nodes["away"].clock.Note(kWallMs, kWallMs);
  EXPECT_EQ(ClockWarning(known, observations), "the newest event is 30 h old")
      << "it is not attached";
  AttachAhead("a", 600'000, observations);
  EXPECT_EQ(ClockWarning(known, observations), "");
}

TEST(ClockWarningTest, MostWorkersAgainstTheControllerRaiseOne) {
  Observations observations;
  AttachAhead("a", -kStepDay, observations);
  EXPECT_EQ(ClockWarning(KnownClock(), observations),
            "the controller's clock is " + DurationText(kStepDay) +
                " ahead of the clocks of most workers; compare the clocks (chronyc tracking)");
  AttachAhead("b", 0, observations);
  AttachAhead("c", 5, observations);
  EXPECT_EQ(ClockWarning(KnownClock(), observations), "");
  AttachAhead("d", 600'001, observations);
  AttachAhead("e", 600'001, observations);
  AttachAhead("f", 600'001, observations);
  EXPECT_NE(ClockWarning(KnownClock(), observations).find("behind the clocks"), std::string::npos);
}

TEST(ClusterClockTest, AWallClockFromTheYear2000OnIsFollowed) {
  constexpr Timestamp kYear2000 = 946'684'800'000;
  const ClusterClock clock(KnownClock(), "boot", {kWallMs, kSteadyMs});
  EXPECT_EQ(clock.Due({kYear2000 - 1, kSteadyMs}), std::nullopt);
  const auto set = clock.Due({kYear2000, kSteadyMs});
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->boot_id(), "boot");
  EXPECT_EQ(set->boot_time_ms(), kYear2000 - kSteadyMs);
  EXPECT_EQ(set->step_ms(), kYear2000 - kWallMs);
}

TEST(ClusterClockTest, SteadyTimeUpToASecondBehindTheNewestEventIsOfTheSameBoot) {
  const ClockReading near{kWallMs - 999, kSteadyMs - 999};
  EXPECT_EQ(ClusterClock(KnownClock(), "boot", near).Due(near), std::nullopt);
  const ClockReading far{kWallMs - 1000, kSteadyMs - 1000};
  EXPECT_TRUE(ClusterClock(KnownClock(), "boot", far).Due(far).has_value());
}

TEST(ClusterClockTest, ADoubtSaysHowFarTheWallClockIsFromTheNewestEvent) {
  const auto doubt = [](Timestamp wall_ms) {
    const ClockReading start{wall_ms, 20'000};
    return ClusterClock(KnownClock(), "another boot", start).Due(start)->doubt();
  };
  const auto behind = [](int64_t seconds) {
    return "the wall clock is " + std::to_string(seconds) +
           " s behind the newest event, so the controller's downtime counts as 0 s; correct the "
           "clock (chronyc tracking)";
  };
  const auto ahead = [](int64_t hours) {
    return "the newest event is " + std::to_string(hours) +
           " h old by the wall clock. After a reboot or on another machine, the controller cannot "
           "verify the wall clock, so check it. If it is wrong, the time ledgers of the jobs that "
           "were running are wrong too";
  };
  EXPECT_EQ(doubt(kWallMs), "");
  EXPECT_EQ(doubt(kWallMs + kUndoubtedGapMs), "");
  EXPECT_EQ(doubt(kWallMs + kUndoubtedGapMs + 1), ahead(24));
  EXPECT_EQ(doubt(kWallMs + 30 * 3'600'000), ahead(30));
  EXPECT_EQ(doubt(kWallMs - kStepDay), behind(86'400));
  EXPECT_EQ(doubt(3000), behind(kWallMs / 1000 - 3)) << "the clock was never set";
}

TEST(ClockWarningTest, TheMedianCountsInAnyOrderOfTheWorkers) {
  Observations observations;
  AttachAhead("a", 0, observations);
  AttachAhead("b", 700'000, observations);
  AttachAhead("c", 0, observations);
  EXPECT_EQ(ClockWarning(KnownClock(), observations), "");
}

}  // namespace
}  // namespace trainyard::controller
