#include "controller/core/event_log/log_record.h"

#include <vector>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(LogRecordTest, EachEventBecomesARecordWithItsKindJobAndTime) {
  std::vector<v1::Event> events(2);
  events[0].set_time_ms(1000);
  events[0].mutable_rank_started()->set_job_id(7);
  events[1].set_time_ms(2000);
  events[1].mutable_node_lost()->set_node_id("a");
  const std::vector<LogRecord> records = ToLogRecords(events);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].payload, events[0].SerializeAsString());
  EXPECT_EQ(records[0].kind, v1::Event::kRankStarted);
  EXPECT_EQ(records[0].job_id, 7);
  EXPECT_EQ(records[0].time_ms, 1000);
  EXPECT_EQ(records[1].payload, events[1].SerializeAsString());
  EXPECT_EQ(records[1].kind, v1::Event::kNodeLost);
  EXPECT_EQ(records[1].job_id, 0);
  EXPECT_EQ(records[1].time_ms, 2000);
}

}  // namespace
}  // namespace trainyard::controller
