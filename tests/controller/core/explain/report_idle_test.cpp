// Tests the idle time in reports: time in which no job holds a slot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/explain/report.h"
#include "controller/core/state/nodes/capacity.h"
#include "tests/controller/core/explain/report_scenes.h"

namespace trainyard::controller {
namespace {

// A capacity of `slots` slots from `begin` to `end`.
v1::CapacityHistory CapacityOf(int64_t slots, Timestamp begin, Timestamp end) {
  v1::CapacityHistory capacity;
  CountCapacity(slots, begin, capacity);
  CountCapacity(slots, end, capacity);
  return capacity;
}

v1::GetReportResponse ReportWithin(Timestamp since, Timestamp until,
                                   const v1::CapacityHistory& capacity) {
  v1::GetReportRequest request = By(v1::REPORT_BY_CLUSTER);
  request.set_since_ms(since);
  request.set_until_ms(until);
  return Report(request, capacity, kMonday + kDay).Take();
}

TEST(ReportIdleTest, IdleSlotsAreReportedByTimeAndForAllUsersOnly) {
  const v1::CapacityHistory capacity = CapacityOf(10, kMonday, kMonday + 200'000);
  const auto total = [&](v1::ReportBy by, const std::string& user) {
    v1::GetReportRequest request = By(by);
    request.set_user(user);
    Report report(request, capacity, kMonday + 200'000);
    report.Add(JobAt(kMonday, 1, "ann"));
    return report.Take().total();
  };
  for (const v1::ReportBy by :
       {v1::REPORT_BY_UNSPECIFIED, v1::REPORT_BY_CLUSTER, v1::REPORT_BY_WEEK}) {
    EXPECT_DOUBLE_EQ(total(by, "").idle_slot_seconds(), 10 * 200 - 4 * 190) << by;
    EXPECT_EQ(total(by, "").idle_since_ms(), kMonday) << by;
    EXPECT_EQ(total(by, "ann").idle_slot_seconds(), 0) << by;
    EXPECT_EQ(total(by, "ann").idle_since_ms(), 0) << by;
  }
  for (const v1::ReportBy by : {v1::REPORT_BY_USER, v1::REPORT_BY_JOB}) {
    EXPECT_EQ(total(by, "").idle_slot_seconds(), 0) << by;
    EXPECT_EQ(total(by, "").idle_since_ms(), 0) << by;
  }
}

TEST(ReportIdleTest, BeforeTheFirstNodeNoIdleSlotsAreReported) {
  EXPECT_EQ(ReportWithin(kMonday, kMonday + 1000, {}).total().idle_since_ms(), 0);
}

TEST(ReportIdleTest, SlotsCountFromTheFirstMillisecondOn) {
  Report report(By(v1::REPORT_BY_CLUSTER), CapacityOf(10, 1, 1001), 1001);
  const v1::ReportGroup total = report.Take().total();
  EXPECT_EQ(total.idle_since_ms(), 1);
  EXPECT_DOUBLE_EQ(total.idle_slot_seconds(), 10);
}

TEST(ReportIdleTest, ATimeWithoutSlotsHasNoGroup) {
  const v1::CapacityHistory capacity = CapacityOf(10, kMonday, kMonday + 1000);
  EXPECT_EQ(ReportWithin(kMonday - 2000, kMonday - 1000, capacity).groups_size(), 0);
}

TEST(ReportIdleTest, OneIdleSlotMillisecondCounts) {
  const v1::CapacityHistory capacity = CapacityOf(1, kMonday, kMonday + 1000);
  const v1::GetReportResponse response = ReportWithin(kMonday + 10, kMonday + 11, capacity);
  EXPECT_EQ(response.groups_size(), 1);
  EXPECT_DOUBLE_EQ(response.total().idle_slot_seconds(), 0.001);
}

TEST(ReportIdleTest, AnHourThatEndsWhereTheHistoryBeginsCountsForNothing) {
  v1::CapacityHistory capacity = CapacityOf(10, kMonday, kMonday + 1000);
  capacity.set_first_hour(capacity.first_hour() - 1);
  capacity.mutable_slot_ms()->Add(0);
  capacity.mutable_slot_ms()->SwapElements(0, 1);
  EXPECT_DOUBLE_EQ(
      ReportWithin(kMonday - 1000, kMonday + 1000, capacity).total().idle_slot_seconds(), 10);
}

}  // namespace
}  // namespace trainyard::controller
