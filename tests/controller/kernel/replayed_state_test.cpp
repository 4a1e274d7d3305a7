#include "controller/kernel/replayed_state.h"

#include <gtest/gtest.h>

#include <optional>

#include "controller/core/observations/cluster_clock.h"
#include "controller/store/events/memory_event_log.h"

namespace trainyard::controller {
namespace {

v1::Event QueueNamed(const std::string& name) {
  v1::Event event;
  event.mutable_queue_set()->mutable_queue()->set_name(name);
  return event;
}

LogTail::Batch BatchUpTo(uint64_t last_sequence, bool has_event) {
  LogTail::Batch batch;
  batch.last_sequence = last_sequence;
  if (has_event) batch.events.push_back(QueueNamed("a"));
  return batch;
}

TEST(ReplayedStateTest, TheTimeOfAnEventIsKnownIfTheLookBeforeWasRecent) {
  ReplayedState replayed;
  LogTail::Batch first = BatchUpTo(1, true);
  first.restarts = true;
  ASSERT_TRUE(ApplyBatch(std::move(first), 1'000, replayed).ok());
  EXPECT_EQ(replayed.newest_ms, std::nullopt) << "it may be much older";
  ASSERT_TRUE(ApplyBatch(BatchUpTo(1, false), 1'200, replayed).ok());
  ASSERT_TRUE(ApplyBatch(BatchUpTo(2, true), 1'400, replayed).ok());
  EXPECT_EQ(replayed.newest_ms, 1'400);
  ASSERT_TRUE(ApplyBatch(BatchUpTo(2, false), 90'000, replayed).ok());
  EXPECT_EQ(replayed.newest_ms, 1'400);
  // The machine of the standby was paused before this look.
  const int64_t late_ms = 90'000 + kMeasuredGapToleranceMs + 1;
  ASSERT_TRUE(ApplyBatch(BatchUpTo(3, true), late_ms, replayed).ok());
  EXPECT_EQ(replayed.newest_ms, std::nullopt);
}

TEST(ReplayedStateTest, EventsThatWereNotReadAreAsOldAsTheLastCompleteLook) {
  MemoryEventLog log;
  ASSERT_TRUE(log.Append({QueueNamed("a"), QueueNamed("b")}).ok());
  ReplayedState replayed;
  LogTail::Batch first = BatchUpTo(1, true);
  first.restarts = true;
  first.has_more = true;
  ASSERT_TRUE(ApplyBatch(first, 1'000, replayed).ok());
  ReplayedState complete = replayed;
  ASSERT_TRUE(CatchUp(log, replayed).ok());
  EXPECT_EQ(replayed.newest_ms, std::nullopt) << "the standby was still reading old events";
  EXPECT_EQ(replayed.last_sequence, 2u);
  EXPECT_TRUE(replayed.state.queues.contains("b"));

  complete.complete_look_ms = 1'500;
  ASSERT_TRUE(CatchUp(log, complete).ok());
  EXPECT_EQ(complete.newest_ms, 1'500);
}

TEST(ReplayedStateTest, AStateBeyondTheEndOfTheLogDoesNotFit) {
  MemoryEventLog log;
  ReplayedState replayed;
  ASSERT_TRUE(ApplyBatch(BatchUpTo(1, true), 0, replayed).ok());
  EXPECT_FALSE(CatchUp(log, replayed).ok());
}

}  // namespace
}  // namespace trainyard::controller
