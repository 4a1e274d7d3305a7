// Tests the contract of event_log.h on the SQLite log and on the in-memory log.
#include "controller/store/events/event_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "controller/store/events/memory_event_log.h"
#include "controller/store/events/sqlite_event_log.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

v1::Event Submitted(int64_t job_id, int64_t time_ms) {
  v1::Event event;
  event.set_time_ms(time_ms);
  event.set_actor("user ada");
  event.mutable_job_submitted()->set_job_id(job_id);
  event.mutable_job_submitted()->set_user("ada");
  return event;
}

v1::Event NodeLost(const std::string& node_id) {
  v1::Event event;
  event.mutable_node_lost()->set_node_id(node_id);
  return event;
}

class EventLogTest : public testing::TestWithParam<bool> {
 protected:
  EventLogTest() { Reopen(); }

  // Simulates a restart of the controller by opening the SQLite log again. The in-memory log stays
  // as it is.
  void Reopen() {
    if (!GetParam()) {
      if (log_ == nullptr) log_ = std::make_unique<MemoryEventLog>();
      return;
    }
    log_.reset();
    auto opened = SqliteEventLog::Open(temporary_.File("events.db"));
    ASSERT_TRUE(opened.ok()) << opened.status();
    log_ = *std::move(opened);
  }

  EventLog::Recovery Recover() {
    auto recovery = log_->Recover();
    EXPECT_TRUE(recovery.ok()) << recovery.status();
    return recovery.ok() ? *std::move(recovery) : EventLog::Recovery();
  }

  TemporaryDirectory temporary_;
  std::unique_ptr<EventLog> log_;
};

TEST_P(EventLogTest, EmptyLogRecoversNothing) {
  const auto recovery = Recover();
  EXPECT_FALSE(recovery.snapshot.has_value());
  EXPECT_TRUE(recovery.events.empty());
  EXPECT_EQ(recovery.last_sequence, 0u);
}

TEST_P(EventLogTest, RecoversEventsInOrderAfterReopening) {
  ASSERT_TRUE(log_->Append({Submitted(1, 10), NodeLost("n1")}).ok());
  ASSERT_TRUE(log_->Append({}).ok());
  ASSERT_TRUE(log_->Append({Submitted(2, 20)}).ok());
  Reopen();
  const auto recovery = Recover();
  EXPECT_EQ(recovery.last_sequence, 3u);
  ASSERT_EQ(recovery.events.size(), 3u);
  EXPECT_EQ(recovery.events[0].SerializeAsString(), Submitted(1, 10).SerializeAsString());
  EXPECT_EQ(recovery.events[1].node_lost().node_id(), "n1");
  EXPECT_EQ(recovery.events[2].job_submitted().job_id(), 2);
}

TEST_P(EventLogTest, SnapshotReplacesOlderEventsAndSnapshots) {
  ASSERT_TRUE(log_->Append({Submitted(1, 10), Submitted(2, 20), Submitted(3, 30)}).ok());
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(1);
  ASSERT_TRUE(log_->WriteSnapshot(snapshot).ok());
  snapshot.set_last_sequence(2);
  snapshot.set_next_job_id(42);
  ASSERT_TRUE(log_->WriteSnapshot(snapshot).ok());
  Reopen();
  const auto recovery = Recover();
  ASSERT_TRUE(recovery.snapshot.has_value());
  EXPECT_EQ(recovery.snapshot->next_job_id(), 42);
  ASSERT_EQ(recovery.events.size(), 1u);
  EXPECT_EQ(recovery.events[0].job_submitted().job_id(), 3);
  EXPECT_EQ(recovery.last_sequence, 3u);
  EXPECT_EQ(log_->ReadJobEvents(1, 10)->size(), 1u) << "events before the snapshot stay readable";
}

TEST_P(EventLogTest, ReadsUpToAnEvent) {
  ASSERT_TRUE(log_->Append({Submitted(1, 10), Submitted(2, 20), Submitted(3, 30)}).ok());
  auto recovery = log_->ReadUpTo(2);
  ASSERT_TRUE(recovery.ok()) << recovery.status();
  EXPECT_EQ(recovery->last_sequence, 2u);
  ASSERT_EQ(recovery->events.size(), 2u);
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(1);
  ASSERT_TRUE(log_->WriteSnapshot(snapshot).ok());
  recovery = log_->ReadUpTo(2);
  ASSERT_TRUE(recovery.ok() && recovery->snapshot.has_value());
  ASSERT_EQ(recovery->events.size(), 1u);
  EXPECT_EQ(recovery->events[0].job_submitted().job_id(), 2);
}

TEST_P(EventLogTest, SnapshotOfWholeLogLeavesNoEvents) {
  ASSERT_TRUE(log_->Append({Submitted(1, 10)}).ok());
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(1);
  ASSERT_TRUE(log_->WriteSnapshot(snapshot).ok());
  Reopen();
  EXPECT_TRUE(Recover().events.empty());
  EXPECT_EQ(Recover().last_sequence, 1u);
  ASSERT_TRUE(log_->Append({Submitted(2, 20)}).ok());
  EXPECT_EQ(Recover().last_sequence, 2u);
}

TEST_P(EventLogTest, RefusesSnapshotOfEventsItDoesNotHold) {
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(5);
  EXPECT_EQ(log_->WriteSnapshot(snapshot).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Recover().snapshot.has_value());
}

TEST_P(EventLogTest, ReadsNewestEventsOfAJobOldestFirst) {
  for (int i = 1; i <= 10; ++i) {
    ASSERT_TRUE(log_->Append({Submitted(7, i), Submitted(8, i), NodeLost("n1")}).ok());
  }
  const auto events = log_->ReadJobEvents(7, 3);
  ASSERT_TRUE(events.ok()) << events.status();
  ASSERT_EQ(events->size(), 3u);
  EXPECT_EQ((*events)[0].time_ms(), 8);
  EXPECT_EQ((*events)[2].time_ms(), 10);
  EXPECT_EQ(log_->ReadJobEvents(8, 100)->size(), 10u);
  EXPECT_TRUE(log_->ReadJobEvents(99, 5)->empty());
  EXPECT_TRUE(log_->ReadJobEvents(0, 5)->empty()) << "0 is no job";
  EXPECT_EQ(log_->ReadJobEvents(7, 0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(EventLogTest, FindsEveryKindThatNamesAJob) {
  const auto* descriptor = v1::Event::descriptor()->FindOneofByName("kind");
  int with_job = 0;
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* field = descriptor->field(i);
    const auto* job_id = field->message_type()->FindFieldByName("job_id");
    v1::Event event;
    auto* fact = event.GetReflection()->MutableMessage(&event, field);
    if (job_id != nullptr) {
      fact->GetReflection()->SetInt64(fact, job_id, 5);
      ++with_job;
    }
    ASSERT_TRUE(log_->Append({event}).ok());
  }
  EXPECT_EQ(log_->ReadJobEvents(5, 1000)->size(), static_cast<std::size_t>(with_job));
  EXPECT_GT(with_job, 10);
}

TEST_P(EventLogTest, JobEventsAreReadWhileTheLoopAppends) {
  ASSERT_TRUE(log_->Append({Submitted(1, 0)}).ok());
  std::atomic<bool> done = false;
  std::thread reader([&] {
    std::size_t seen = 0;
    while (!done) {
      auto events = log_->ReadJobEvents(1, 1000);
      ASSERT_TRUE(events.ok()) << events.status();
      ASSERT_GE(events->size(), seen);
      seen = events->size();
    }
  });
  for (int i = 1; i <= 200; ++i) EXPECT_TRUE(log_->Append({Submitted(1, i)}).ok());
  done = true;
  reader.join();
  EXPECT_EQ(log_->ReadJobEvents(1, 1000)->size(), 201u);
}

INSTANTIATE_TEST_SUITE_P(, EventLogTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Sqlite" : "Memory"; });

}  // namespace
}  // namespace trainyard::controller
