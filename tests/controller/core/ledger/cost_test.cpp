#include "controller/core/ledger/cost.h"

#include <gtest/gtest.h>

#include "controller/core/ledger/ledger.h"
#include "tests/controller/core/ledger/restarted_job.h"

namespace trainyard::controller {
namespace {

TEST(CostTest, GpuTimeCostsItsHoursTimesThePrice) {
  const auto cost = CostOf(5400, {.per_hour = 2.1, .currency = "USD"});
  ASSERT_TRUE(cost.has_value());
  EXPECT_DOUBLE_EQ(cost->amount(), 3.15);
  EXPECT_EQ(cost->currency(), "USD");
  EXPECT_DOUBLE_EQ(cost->gpu_hour_price(), 2.1);
  EXPECT_EQ(CostOf(0, {.per_hour = 2.1})->amount(), 0);
}

TEST(CostTest, WithoutAPriceThereIsNoCost) { EXPECT_FALSE(CostOf(5400, {}).has_value()); }

TEST(CostTest, OnlyCpuSlotsAreNoGpus) {
  EXPECT_TRUE(CountsAsGpu(v1::DEVICE_KIND_GPU));
  EXPECT_TRUE(CountsAsGpu(v1::DEVICE_KIND_UNSPECIFIED));
  EXPECT_FALSE(CountsAsGpu(v1::DEVICE_KIND_CPU));
}

TEST(CostTest, TheLedgerOfAGpuJobHasTheSlotTimeOfAllPhasesWithSlots) {
  v1::Job job = RestartedJob();
  job.mutable_attempts(1)->set_standbys(1);
  // 8 slots from 3 s to 20 s, and one standby from 16 s on.
  EXPECT_DOUBLE_EQ(LedgerOf(job, 20'000).gpu_seconds(), 8 * 17 + 4);
  job.mutable_spec()->mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
  EXPECT_EQ(LedgerOf(job, 20'000).gpu_seconds(), 0);
}

}  // namespace
}  // namespace trainyard::controller
