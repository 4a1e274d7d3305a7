#include "controller/core/state/fair_share.h"

#include <cmath>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kUsageHour = 3'600'000;

double Exact(int64_t elapsed_ms) {
  return std::exp2(62.0 - static_cast<double>(elapsed_ms) / kUsageHalfLifeMs);
}

TEST(FairShareTest, TheFactorHalvesInEachHalfLife) {
  EXPECT_EQ(DecayFactor(0), int64_t{1} << 62);
  EXPECT_EQ(DecayFactor(kUsageHalfLifeMs), int64_t{1} << 61);
  EXPECT_EQ(DecayFactor(10 * kUsageHalfLifeMs), int64_t{1} << 52);
  EXPECT_EQ(DecayFactor(62 * kUsageHalfLifeMs), 0);
  EXPECT_EQ(DecayFactor(INT64_MAX), 0);
  EXPECT_EQ(DecayFactor(-kUsageHour), int64_t{1} << 62);
  for (int64_t hours = 1; hours < 400; hours += 7) {
    EXPECT_NEAR(static_cast<double>(DecayFactor(hours * kUsageHour)) / Exact(hours * kUsageHour), 1,
                1e-8);
  }
}

// The bits are part of the log's meaning: they decide the order of jobs when a log is replayed.
TEST(FairShareTest, TheBitsDoNotChange) {
  EXPECT_EQ(DecayFactor(kUsageHour), 4592697972649197024);
  EXPECT_EQ(UsageAt({.slot_ms = 1'000'000'000, .at = 0, .held = 8}, 86'400'000), 1563804134);
}

TEST(FairShareTest, HeldSlotsAreUsedAndDecayTogether) {
  Usage usage{.slot_ms = 0, .at = 1000, .held = 8};
  EXPECT_NEAR(static_cast<double>(UsageAt(usage, 1000 + kUsageHour)), 8.0 * kUsageHour,
              0.004 * kUsageHour * 8);
  // Use for ever approaches held x half-life / ln 2.
  const double limit = 8.0 * static_cast<double>(kUsageHalfLifeMs) / std::log(2);
  EXPECT_NEAR(static_cast<double>(UsageAt(usage, 100 * kUsageHalfLifeMs)) / limit, 1, 1e-6);
  HoldFrom(1000 + kUsageHour, 0, usage);
  const int64_t used = usage.slot_ms;
  EXPECT_EQ(usage.held, 0);
  EXPECT_EQ(UsageAt(usage, 1000 + kUsageHour + kUsageHalfLifeMs), used / 2);
}

TEST(FairShareTest, AClockThatGoesBackChangesNothing) {
  Usage usage{.slot_ms = 500, .at = 1000, .held = 8};
  EXPECT_EQ(UsageAt(usage, 10), 500);
  HoldFrom(10, 4, usage);
  EXPECT_EQ(usage, (Usage{.slot_ms = 500, .at = 1000, .held = 4}));
}

TEST(FairShareTest, TheLeastUsagesWithoutSlotsAreDropped) {
  UsageByKey usages;
  const auto key = [](const char* user) { return UsageKey{v1::DEVICE_KIND_GPU, "default", user}; };
  usages[key("greatest")] = {.slot_ms = 1000, .at = 0, .held = 0};
  usages[key("old")] = {.slot_ms = 1500, .at = -kUsageHalfLifeMs, .held = 0};
  usages[key("runs")] = {.slot_ms = 1, .at = 0, .held = 8};
  usages[key("least")] = {.slot_ms = 2, .at = 0, .held = 0};
  DropUsages(0, 2, usages);
  EXPECT_EQ(usages.size(), 2U);
  EXPECT_TRUE(usages.contains(key("greatest")));
  DropUsages(0, 0, usages);
  EXPECT_EQ(usages.size(), 1U);
  EXPECT_TRUE(usages.contains(key("runs")));
}

TEST(FairShareTest, AHugeClusterDoesNotOverflow) {
  const Usage usage{.slot_ms = INT64_MAX, .at = 0, .held = 20'000'000'000};
  EXPECT_EQ(UsageAt(usage, 1000), INT64_MAX) << "more was used than was forgotten";
  EXPECT_EQ(UsageAt(usage, 50 * kUsageHalfLifeMs), INT64_MAX);
}

}  // namespace
}  // namespace trainyard::controller
