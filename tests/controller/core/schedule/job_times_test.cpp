#include "controller/core/schedule/job_times.h"

#include <cstdint>
#include <optional>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(JobTimesTest, FindsTimesOfNumbersWithEqualLowBits) {
  JobTimes times(3);
  for (const int64_t job : {1, 1 + 1024, 1 + 2 * 1024}) times.Set(job, 10 * job);
  EXPECT_EQ(times.Find(1), 10);
  EXPECT_EQ(times.Find(1 + 1024), 10 * (1 + 1024));
  EXPECT_EQ(times.Find(1 + 2 * 1024), 10 * (1 + 2 * 1024));
  EXPECT_EQ(times.Find(1 + 3 * 1024), std::nullopt);
  times.Set(1, 7);
  EXPECT_EQ(times.Find(1), 7);
}

TEST(JobTimesTest, FurtherJobsAreNotStored) {
  JobTimes times(1);
  times.Set(1, 5);
  for (int64_t job = 2; job < 100; ++job) times.Set(job, 6);
  EXPECT_EQ(times.Find(1), 5);
  EXPECT_EQ(times.Find(2), std::nullopt);
  times.Set(1, 7);
  EXPECT_EQ(times.Find(1), 7) << "a stored job may change";
  EXPECT_EQ(JobTimes(0).Find(1), std::nullopt);
}

}  // namespace
}  // namespace trainyard::controller
