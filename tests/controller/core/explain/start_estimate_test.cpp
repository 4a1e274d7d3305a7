#include "controller/core/explain/start_estimate.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

constexpr Timestamp kForecastNow = 1'000'000;

v1::PendingReason EstimateOf(Timestamp start, EndBasis basis) {
  v1::PendingReason reason;
  SetEstimate({{1, {start, basis}}}, 1, kForecastNow, reason);
  return reason;
}

TEST(StartEstimateTest, TheRangeDependsOnWhatIsKnown) {
  const v1::PendingReason predicted = EstimateOf(kForecastNow + 1000, EndBasis::kPredicted);
  EXPECT_EQ(predicted.estimated_start_ms(), kForecastNow + 1000);
  EXPECT_EQ(predicted.estimated_earliest_ms(), kForecastNow + 750);
  EXPECT_EQ(predicted.estimated_latest_ms(), kForecastNow + 1250);
  const v1::PendingReason usual = EstimateOf(kForecastNow + 1000, EndBasis::kUsual);
  EXPECT_EQ(usual.estimated_earliest_ms(), kForecastNow + 500);
  EXPECT_EQ(usual.estimated_latest_ms(), kForecastNow + 1500);
  const v1::PendingReason limit = EstimateOf(kForecastNow + 1000, EndBasis::kLimit);
  EXPECT_EQ(limit.estimated_earliest_ms(), kForecastNow);
  EXPECT_EQ(limit.estimated_latest_ms(), kForecastNow + 1000);
}

TEST(StartEstimateTest, APastStartIsNow) {
  EXPECT_EQ(EstimateOf(kForecastNow - 5, EndBasis::kUsual).estimated_start_ms(), kForecastNow);
}

TEST(StartEstimateTest, AnUnknownStartChangesNothing) {
  v1::PendingReason reason;
  SetEstimate({}, 1, kForecastNow, reason);
  EXPECT_EQ(reason.ByteSizeLong(), 0U);
}

}  // namespace
}  // namespace trainyard::controller
