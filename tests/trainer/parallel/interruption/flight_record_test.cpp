#include "trainer/parallel/interruption/flight_record.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

Operation Sum(int64_t elements) {
  return {.kind = Operation::Kind::kAllReduce, .output = torch::zeros({elements})};
}

TEST(FlightRecordTest, TellsTheOperationThatTheDeviceStandsIn) {
  FlightRecord record;
  EXPECT_EQ(record.Current().sequence, 1u) << "the one that would come next";
  EXPECT_EQ(record.Current().queued, 0);
  record.Queue(Sum(10));
  record.Queue(Sum(20));
  EXPECT_EQ(record.Current().entered, 0);
  record.Enter(1);
  EXPECT_EQ(record.moves(), 1u);
  EXPECT_EQ(record.Current().sequence, 1u);
  EXPECT_EQ(record.Current().bytes, 40);
  EXPECT_GT(record.Current().entered, 0);
  record.Leave(1);
  EXPECT_EQ(record.moves(), 2u);
  EXPECT_EQ(record.Current().sequence, 2u);
  record.Leave(2);
  EXPECT_EQ(record.Current().sequence, 3u);
  EXPECT_EQ(record.Current().queued, 0);
}

TEST(FlightRecordTest, TellsOfAnOperationThatIsNoLongerKeptItsNumberOnly) {
  FlightRecord record;
  for (uint64_t i = 0; i < FlightRecord::kKept + 5; ++i) record.Queue(Sum(1));
  EXPECT_EQ(record.Current().sequence, 1u);
  EXPECT_EQ(record.Current().queued, 0);
  record.Leave(5);
  EXPECT_EQ(record.Current().sequence, 6u);
  EXPECT_GT(record.Current().queued, 0);
}

TEST(FlightRecordTest, KeepsTheNewest) {
  FlightRecord record;
  for (uint64_t i = 1; i <= 3 * FlightRecord::kKept; ++i) EXPECT_EQ(record.Queue(Sum(1)), i);
  record.Leave(3 * FlightRecord::kKept - 1);
  EXPECT_EQ(record.Current().sequence, 3 * FlightRecord::kKept);
  EXPECT_GT(record.Current().queued, 0);
  EXPECT_EQ(record.Current().entered, 0);
}

}  // namespace
}  // namespace trainyard::trainer
