#include "controller/planner/run_cost.h"

#include <cmath>

#include "gtest/gtest.h"
#include "proto/contract/device_table.h"

namespace trainyard::planner {
namespace {

TEST(RunCostTest, PricesNameKnownDevicesDatesAndSources) {
  EXPECT_GE(KnownPrices().size(), 15u);
  for (const CloudPrice& price : KnownPrices()) {
    ASSERT_NE(FindDevice(price.device), nullptr) << price.device;
    EXPECT_EQ(FindDevice(price.device)->name, price.device);
    EXPECT_GT(price.low, 0);
    EXPECT_LE(price.low, price.high);
    EXPECT_FALSE(price.date.empty() || price.source.empty());
  }
}

TEST(RunCostTest, OnlyTheGuidesPricesHaveNoDate) {
  for (const CloudPrice& price : KnownPrices()) {
    EXPECT_EQ(price.date == "undated", price.source == "the guide, section 9.1") << price.cloud;
  }
  EXPECT_FALSE(PricesOf("B200").empty());
  EXPECT_TRUE(PricesOf("V100").empty());
}

// LLaMA 3 had 419 interruptions in 54 days on 16,384 GPUs: an interruption every three hours.
TEST(RunCostTest, FailuresComeAtTheRateOfLlama3) {
  const Reliability known = ReliabilityOf(54 * 86400.0, 16384, 600, {});
  EXPECT_NEAR(known.mean_seconds_between / 3600, 3.09, 0.01);
  EXPECT_NEAR(known.failures * known.goodput, 419, 1e-6);
  EXPECT_GT(known.failures, 419) << "the time that stops cost has stops, too";
}

TEST(RunCostTest, DalyRefinesYoung) {
  EXPECT_NEAR(YoungInterval(30, 11123), std::sqrt(2 * 30 * 11123.0), 1e-9);
  EXPECT_NEAR(DalyInterval(30, 1e9), YoungInterval(30, 1e9), 35);
  EXPECT_LT(DalyInterval(30, 11123), YoungInterval(30, 11123));
  EXPECT_EQ(DalyInterval(500, 100), 100) << "checkpoints longer than the time between stops";
}

TEST(RunCostTest, TheBestIntervalHasTheMostGoodput) {
  const auto goodput = [](double interval) {
    return ReliabilityOf(1e6, 16384, interval, {}).goodput;
  };
  const double best = ReliabilityOf(1e6, 16384, 0, {}).interval_seconds;
  for (const double factor : {0.5, 0.9, 1.1, 2.0}) {
    EXPECT_LT(goodput(best * factor), goodput(best)) << factor;
  }
  EXPECT_GT(goodput(best), 0.85);
  EXPECT_LT(goodput(best), 1);
}

TEST(RunCostTest, FewGpusLoseAlmostNothing) {
  const Reliability known = ReliabilityOf(86400, 8, 0, {});
  EXPECT_GT(known.goodput, 0.998);
  EXPECT_NEAR(known.seconds * known.goodput, 86400, 1e-6);
}

// A run never ends if each failure occurs before recovery from the preceding failure is complete.
TEST(RunCostTest, AHopelessClusterHasNoGoodput) {
  const Reliability known =
      ReliabilityOf(86400, 1e6, 0, {.gpu_hours_per_failure = 1, .restart_seconds = 300});
  EXPECT_LT(known.goodput, 1e-9);
  EXPECT_GT(known.seconds, 1e12);
}

}  // namespace
}  // namespace trainyard::planner
