#include "cli/output/plans/estimate_view.h"

#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

constexpr Timestamp kEstimateNow = 1'700'000'000'000;
constexpr int64_t kEstimateMinute = 60'000;

v1::PendingReason Estimate(int64_t earliest_minutes, int64_t minutes, int64_t latest_minutes) {
  v1::PendingReason reason;
  reason.set_estimated_earliest_ms(kEstimateNow + earliest_minutes * kEstimateMinute);
  reason.set_estimated_start_ms(kEstimateNow + minutes * kEstimateMinute);
  reason.set_estimated_latest_ms(kEstimateNow + latest_minutes * kEstimateMinute);
  return reason;
}

TEST(EstimateViewTest, ShowsTheRange) {
  const v1::PendingReason reason = Estimate(10, 20, 30);
  EXPECT_EQ(EstimateLine(reason, kEstimateNow), "starts in about 20m00s (10m00s to 30m00s)");
  EXPECT_EQ(EstimateCell(reason, kEstimateNow), "~20m00s");
}

TEST(EstimateViewTest, ShowsOnlyTheLatestTimeIfTheRangeBeginsNow) {
  const v1::PendingReason reason = Estimate(0, 20, 20);
  EXPECT_EQ(EstimateLine(reason, kEstimateNow),
            "starts within 20m00s, if jobs run until their time limits");
  EXPECT_EQ(EstimateCell(reason, kEstimateNow), "<20m00s");
}

TEST(EstimateViewTest, ShowsNothingIfTheStartIsUnknown) {
  EXPECT_EQ(EstimateLine({}, kEstimateNow), "");
  EXPECT_EQ(EstimateCell({}, kEstimateNow), "-");
}

TEST(EstimateViewTest, APastEstimateIsSoon) {
  const v1::PendingReason reason = Estimate(-2, -1, 0);
  EXPECT_EQ(EstimateLine(reason, kEstimateNow), "starts soon");
  EXPECT_EQ(EstimateCell(reason, kEstimateNow), "~0s");
}

}  // namespace
}  // namespace trainyard::cli
