#include "controller/core/explain/usual_run_times.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kUserLimitMs = 3'600'000;

// Ten jobs, which ran for 1 to 10 minutes.
UsualRunTimes TenMinutes() {
  UsualRunTimes usual;
  for (int64_t minutes = 10; minutes > 0; --minutes) usual.Add(kUserLimitMs, minutes * 60'000);
  return usual;
}

TEST(UsualRunTimesTest, IsTheMedianOfEndedJobs) {
  EXPECT_EQ(TenMinutes().RestMs(kUserLimitMs, 0), 6 * 60'000);
}

TEST(UsualRunTimesTest, ConsidersOnlyJobsThatRanLonger) {
  EXPECT_EQ(TenMinutes().RestMs(kUserLimitMs, 2 * 60'000), (7 - 2) * 60'000);
}

TEST(UsualRunTimesTest, IsTheRestOfTheLimitIfFewJobsAreKnown) {
  EXPECT_EQ(TenMinutes().RestMs(kUserLimitMs, 3 * 60'000), kUserLimitMs - 3 * 60'000);
  EXPECT_EQ(UsualRunTimes().RestMs(kUserLimitMs, 0), kUserLimitMs);
  EXPECT_EQ(UsualRunTimes().RestMs(kUserLimitMs, 2 * kUserLimitMs), 0);
}

TEST(UsualRunTimesTest, ConsidersOnlySimilarLimits) {
  EXPECT_EQ(TenMinutes().RestMs(4 * kUserLimitMs, 0), 4 * kUserLimitMs);
  EXPECT_EQ(TenMinutes().RestMs(kUserLimitMs + 1, 0), 6 * 60'000);
}

TEST(UsualRunTimesTest, IsAtMostTheRestOfTheLimit) {
  UsualRunTimes usual;
  for (std::size_t i = 0; i < UsualRunTimes::kLeastJobs; ++i) usual.Add(2100, 2100);
  EXPECT_EQ(usual.RestMs(2049, 1000), 1049);
}

}  // namespace
}  // namespace trainyard::controller
