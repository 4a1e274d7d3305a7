#include "data/prepare/command/length_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace trainyard::data {
namespace {

TEST(LengthHistogramTest, ShortLengthsAreExact) {
  LengthHistogram lengths;
  EXPECT_EQ(lengths.Percentile(0.5), 0);
  for (int length = 1; length <= 200; ++length) lengths.Add(length);
  EXPECT_EQ(lengths.Percentile(0.5), 100);
  EXPECT_EQ(lengths.Percentile(0.9), 180);
  EXPECT_EQ(lengths.Percentile(1), 200);
  EXPECT_EQ(lengths.max(), 200);
  EXPECT_EQ(lengths.total(), 200);
}

TEST(LengthHistogramTest, LongLengthsAreAtMostOnePercentTooSmall) {
  std::mt19937_64 random(1);
  LengthHistogram lengths;
  std::vector<int64_t> sorted;
  for (int i = 0; i < 10001; ++i) {
    const double logarithm = static_cast<double>(random() % 40000) / 1000;
    sorted.push_back(static_cast<int64_t>(std::exp(logarithm)));
    lengths.Add(sorted.back());
  }
  std::sort(sorted.begin(), sorted.end());
  for (const double fraction : {0.1, 0.5, 0.9, 0.99}) {
    const auto rank = static_cast<size_t>(std::ceil(fraction * 10001)) - 1;
    const auto exact = static_cast<double>(sorted[rank]);
    const auto found = static_cast<double>(lengths.Percentile(fraction));
    EXPECT_LE(found, exact);
    EXPECT_GE(found, exact * (1 - 1.0 / 128));
  }
}

TEST(LengthHistogramTest, TheBoundsOfBuckets) {
  for (const int64_t length :
       {int64_t{255}, int64_t{256}, int64_t{510}, int64_t{512}, int64_t{1} << 40}) {
    LengthHistogram lengths;
    lengths.Add(length);
    EXPECT_EQ(lengths.Percentile(0.5), length);
  }
  LengthHistogram lengths;
  lengths.Add(std::numeric_limits<int64_t>::max());
  EXPECT_GT(lengths.Percentile(0.5), std::numeric_limits<int64_t>::max() / 128 * 127);
}

}  // namespace
}  // namespace trainyard::data
