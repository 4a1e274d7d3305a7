#include "controller/store/metrics/metric_points.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "controller/store/support/block_codec.h"
#include "tests/controller/store/metrics/not_finite.h"

namespace trainyard::controller {
namespace {

void ExpectSameBits(const std::vector<SeriesPoint>& got, const std::vector<SeriesPoint>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].step, wanted[i].step) << i;
    EXPECT_EQ(got[i].time_ms, wanted[i].time_ms) << i;
    EXPECT_EQ(std::bit_cast<uint64_t>(got[i].value), std::bit_cast<uint64_t>(wanted[i].value)) << i;
  }
}

TEST(MetricPointsTest, EncodingKeepsEveryBit) {
  const int64_t low = std::numeric_limits<int64_t>::min();
  const int64_t high = std::numeric_limits<int64_t>::max();
  const std::vector<SeriesPoint> points = {
      {1, 1'700'000'000'000, 3.25},
      {2, 1'700'000'000'200, kNan},
      {2, 0, -0.0},
      {high, high, kInfinity},
      {low, low, -kInfinity},
      {-5, -1, std::numeric_limits<double>::denorm_min()},
  };
  auto decoded = DecodePoints(EncodePoints(points));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  ExpectSameBits(*decoded, points);
  EXPECT_TRUE(DecodePoints(EncodePoints({}))->empty());
}

TEST(MetricPointsTest, SteadySeriesIsSmall) {
  std::vector<SeriesPoint> points;
  for (int i = 0; i < 1024; ++i) points.push_back({i, 1'700'000'000'000 + i * 200, 3.0});
  EXPECT_LT(SealBlock(EncodePoints(points), 1).size(), 200u);
}

TEST(MetricPointsTest, RefusesMalformedBytes) {
  const std::vector<SeriesPoint> points = {{1, 2, 3.0}, {4, 5, 6.0}};
  const std::string bytes = EncodePoints(points);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodePoints(bytes.substr(0, size)).status().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_FALSE(DecodePoints(bytes + "x").ok());
  EXPECT_FALSE(DecodePoints(std::string(10, '\xff')).ok());
}

TEST(MetricPointsTest, SummaryKeepsExtremesAndCountsNan) {
  PointSummary summary;
  EXPECT_TRUE(std::isnan(summary.min));
  summary.Add(SeriesPoint{3, 30, kNan});
  EXPECT_TRUE(std::isnan(summary.min) && std::isnan(summary.max));
  summary.Add(SeriesPoint{4, 40, 2.0});
  summary.Add(SeriesPoint{5, 50, -kInfinity});
  summary.Add(SeriesPoint{6, 60, 1.0});
  EXPECT_EQ(summary.first_step, 3);
  EXPECT_EQ(summary.last_step, 6);
  EXPECT_EQ(summary.last_time_ms, 60);
  EXPECT_EQ(summary.count, 4);
  EXPECT_EQ(summary.nan_count, 1);
  EXPECT_EQ(summary.min, -kInfinity);
  EXPECT_EQ(summary.max, 2.0);
  EXPECT_EQ(summary.last, 1.0);
  EXPECT_EQ(summary.finite_count, 2);
  EXPECT_EQ(summary.sum, 3.0);
}

TEST(MetricPointsTest, SummaryOfSummariesIsSummaryOfPoints) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    PointSummary whole;
    PointSummary joined;
    int64_t step = 0;
    for (int part = 0; part < 5; ++part) {
      PointSummary summary;
      for (unsigned i = 0; i < random() % 4 + 1; ++i) {
        const double value = random() % 3 == 0 ? kNan : static_cast<double>(random() % 100);
        const SeriesPoint point{++step, step * 10, value};
        summary.Add(point);
        whole.Add(point);
      }
      joined.Add(summary);
    }
    EXPECT_EQ(joined.first_step, whole.first_step);
    EXPECT_EQ(joined.count, whole.count);
    EXPECT_EQ(joined.nan_count, whole.nan_count);
    EXPECT_EQ(joined.finite_count, whole.finite_count);
    EXPECT_EQ(joined.sum, whole.sum);
    EXPECT_TRUE(joined.min == whole.min || (std::isnan(joined.min) && std::isnan(whole.min)));
    EXPECT_TRUE(joined.max == whole.max || (std::isnan(joined.max) && std::isnan(whole.max)));
  }
}

TEST(MetricPointsTest, NewestOfEqualStepsStays) {
  std::vector<SeriesPoint> points = {{5, 1, 1.0}, {3, 2, 2.0}, {5, 3, 3.0}, {3, 4, 4.0}, {4, 5, 5}};
  SortAndKeepNewest(points);
  EXPECT_EQ(points, (std::vector<SeriesPoint>{{3, 4, 4.0}, {4, 5, 5}, {5, 3, 3.0}}));
  const std::vector<SeriesPoint> newer = {{2, 9, 9.0}, {4, 9, 9.0}, {6, 9, 9.0}};
  EXPECT_EQ(MergePoints(points, newer),
            (std::vector<SeriesPoint>{{2, 9, 9}, {3, 4, 4}, {4, 9, 9}, {5, 3, 3}, {6, 9, 9}}));
}

}  // namespace
}  // namespace trainyard::controller
