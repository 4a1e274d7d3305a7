// Tests the contract of event_log.h on every implementation.
#include "controller/store/events/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/controller/store/contract/store_contract.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;

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

class EventLogTest : public StoreContract<EventLog> {
 protected:
  EventLog::Recovery Recover() {
    auto recovery = store_->Recover();
    EXPECT_TRUE(recovery.ok()) << recovery.status();
    return recovery.ok() ? *std::move(recovery) : EventLog::Recovery();
  }
};

TEST_P(EventLogTest, EmptyLogRecoversNothing) {
  const auto recovery = Recover();
  EXPECT_FALSE(recovery.snapshot.has_value());
  EXPECT_TRUE(recovery.events.empty());
  EXPECT_EQ(recovery.last_sequence, 0u);
}

TEST_P(EventLogTest, RecoversEventsInOrderAfterReopening) {
  ASSERT_TRUE(store_->Append({Submitted(1, 10), NodeLost("n1")}).ok());
  ASSERT_TRUE(store_->Append({}).ok());
  ASSERT_TRUE(store_->Append({Submitted(2, 20)}).ok());
  Reopen();
  const auto recovery = Recover();
  EXPECT_EQ(recovery.last_sequence, 3u);
  ASSERT_EQ(recovery.events.size(), 3u);
  EXPECT_EQ(recovery.events[0].SerializeAsString(), Submitted(1, 10).SerializeAsString());
  EXPECT_EQ(recovery.events[1].node_lost().node_id(), "n1");
  EXPECT_EQ(recovery.events[2].job_submitted().job_id(), 2);
}

TEST_P(EventLogTest, SnapshotReplacesOlderEventsAndSnapshots) {
  ASSERT_TRUE(store_->Append({Submitted(1, 10), Submitted(2, 20), Submitted(3, 30)}).ok());
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(1);
  ASSERT_TRUE(store_->WriteSnapshot(snapshot).ok());
  snapshot.set_last_sequence(2);
  snapshot.set_next_job_id(42);
  ASSERT_TRUE(store_->WriteSnapshot(snapshot).ok());
  Reopen();
  const auto recovery = Recover();
  ASSERT_TRUE(recovery.snapshot.has_value());
  EXPECT_EQ(recovery.snapshot->next_job_id(), 42);
  ASSERT_EQ(recovery.events.size(), 1u);
  EXPECT_EQ(recovery.events[0].job_submitted().job_id(), 3);
  EXPECT_EQ(recovery.last_sequence, 3u);
  EXPECT_EQ(store_->ReadJobEvents(1, 10)->size(), 1u) << "events before the snapshot stay readable";
}

TEST_P(EventLogTest, ReadsUpToAnEvent) {
  ASSERT_TRUE(store_->Append({Submitted(1, 10), Submitted(2, 20), Submitted(3, 30)}).ok());
  auto recovery = store_->ReadUpTo(2);
  ASSERT_TRUE(recovery.ok()) << recovery.status();
  EXPECT_EQ(recovery->last_sequence, 2u);
  ASSERT_EQ(recovery->events.size(), 2u);
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(1);
  ASSERT_TRUE(store_->WriteSnapshot(snapshot).ok());
  recovery = store_->ReadUpTo(2);
  ASSERT_TRUE(recovery.ok() && recovery->snapshot.has_value());
  ASSERT_EQ(recovery->events.size(), 1u);
  EXPECT_EQ(recovery->events[0].job_submitted().job_id(), 2);
}

TEST_P(EventLogTest, SnapshotOfWholeLogLeavesNoEvents) {
  ASSERT_TRUE(store_->Append({Submitted(1, 10)}).ok());
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(1);
  ASSERT_TRUE(store_->WriteSnapshot(snapshot).ok());
  Reopen();
  EXPECT_TRUE(Recover().events.empty());
  EXPECT_EQ(Recover().last_sequence, 1u);
  ASSERT_TRUE(store_->Append({Submitted(2, 20)}).ok());
  EXPECT_EQ(Recover().last_sequence, 2u);
}

TEST_P(EventLogTest, RefusesSnapshotOfEventsItDoesNotHold) {
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(5);
  EXPECT_EQ(store_->WriteSnapshot(snapshot).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Recover().snapshot.has_value());
}

TEST_P(EventLogTest, ReadsNewestEventsOfAJobOldestFirst) {
  for (int i = 1; i <= 10; ++i) {
    ASSERT_TRUE(store_->Append({Submitted(7, i), Submitted(8, i), NodeLost("n1")}).ok());
  }
  const auto events = store_->ReadJobEvents(7, 3);
  ASSERT_TRUE(events.ok()) << events.status();
  ASSERT_EQ(events->size(), 3u);
  EXPECT_EQ((*events)[0].time_ms(), 8);
  EXPECT_EQ((*events)[2].time_ms(), 10);
  EXPECT_EQ(store_->ReadJobEvents(8, 100)->size(), 10u);
  EXPECT_TRUE(store_->ReadJobEvents(99, 5)->empty());
  EXPECT_TRUE(store_->ReadJobEvents(0, 5)->empty()) << "0 is no job";
  EXPECT_EQ(store_->ReadJobEvents(7, 0).status().code(), absl::StatusCode::kInvalidArgument);
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
    ASSERT_TRUE(store_->Append({event}).ok());
  }
  EXPECT_EQ(store_->ReadJobEvents(5, 1000)->size(), static_cast<std::size_t>(with_job));
  EXPECT_GT(with_job, 10);
}

TEST_P(EventLogTest, JobEventsAreReadWhileTheLoopAppends) {
  ASSERT_TRUE(store_->Append({Submitted(1, 0)}).ok());
  std::atomic<bool> done = false;
  std::thread reader([&] {
    std::size_t seen = 0;
    while (!done) {
      auto events = store_->ReadJobEvents(1, 1000);
      ASSERT_TRUE(events.ok()) << events.status();
      ASSERT_GE(events->size(), seen);
      seen = events->size();
    }
  });
  for (int i = 1; i <= 200; ++i) EXPECT_TRUE(store_->Append({Submitted(1, i)}).ok());
  done = true;
  reader.join();
  EXPECT_EQ(store_->ReadJobEvents(1, 1000)->size(), 201u);
}

std::vector<uint64_t> SequencesOf(const absl::StatusOr<std::vector<v1::EventEntry>>& entries) {
  EXPECT_TRUE(entries.ok()) << entries.status();
  std::vector<uint64_t> sequences;
  if (!entries.ok()) return sequences;
  for (const v1::EventEntry& entry : *entries) sequences.push_back(entry.sequence());
  return sequences;
}

TEST_P(EventLogTest, ReadsPagesOfEventsInBothDirections) {
  ASSERT_TRUE(store_->Append({Submitted(1, 10), NodeLost("n1"), Submitted(2, 20)}).ok());
  ASSERT_TRUE(store_->Append({Submitted(1, 30)}).ok());
  EXPECT_THAT(SequencesOf(store_->ReadEventsBefore(0, 0, 3)), ElementsAre(4, 3, 2));
  EXPECT_THAT(SequencesOf(store_->ReadEventsBefore(0, 2, 3)), ElementsAre(1));
  EXPECT_THAT(SequencesOf(store_->ReadEventsBefore(1, 0, 3)), ElementsAre(4, 1));
  EXPECT_THAT(SequencesOf(store_->ReadEventsBefore(1, 4, 3)), ElementsAre(1));
  EXPECT_THAT(SequencesOf(store_->ReadEventsAfter(1, 2)), ElementsAre(2, 3));
  EXPECT_THAT(SequencesOf(store_->ReadEventsAfter(4, 2)), ElementsAre());
  EXPECT_EQ(store_->ReadEventsAfter(1, 2)->front().event().node_lost().node_id(), "n1");
  EXPECT_EQ(store_->ReadEventsBefore(0, 0, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->ReadEventsAfter(0, 0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(EventLogTest, CoversTheMarksThatItIssued) {
  EXPECT_EQ(store_->NewestMark().sequence(), 0u);
  ASSERT_TRUE(store_->Append({Submitted(1, 10), Submitted(2, 20)}).ok());
  const v1::LogMark mark = store_->NewestMark();
  EXPECT_EQ(mark.sequence(), 2u);
  EXPECT_NE(mark.term(), 0u);
  Reopen();
  ASSERT_TRUE(store_->Append({Submitted(3, 30)}).ok());
  EXPECT_TRUE(store_->Covers(mark));
  v1::LogMark later = store_->NewestMark();
  EXPECT_TRUE(store_->Covers(later));
  later.set_sequence(4);
  EXPECT_FALSE(store_->Covers(later));
  later.set_term(later.term() ^ (1U << 20));
  later.set_sequence(1);
  EXPECT_FALSE(store_->Covers(later)) << "no process appended in this term";
}

// The in-memory log returns the noted marks at once.
class DurableEventLogTest : public EventLogTest {};

TEST_P(DurableEventLogTest, MarksOfStoresAreWrittenOncePerSecond) {
  store_->NoteStore("logs", {.store_id = 7, .writes = 1});
  EXPECT_TRUE(store_->StoreMarks()->empty());
  ASSERT_TRUE(store_->Append({Submitted(1, 1000)}).ok());
  store_->NoteStore("logs", {.store_id = 7, .writes = 2});
  ASSERT_TRUE(store_->Append({Submitted(2, 1999)}).ok());
  EXPECT_EQ(store_->StoreMarks()->at("logs").writes, 1);
  ASSERT_TRUE(store_->Append({Submitted(3, 2000)}).ok());
  Reopen();
  EXPECT_EQ(store_->StoreMarks()->at("logs"), (StoreMark{.store_id = 7, .writes = 2}));
}

TEST_P(DurableEventLogTest, EachProcessHasItsOwnTerm) {
  ASSERT_TRUE(store_->Append({Submitted(1, 10)}).ok());
  const v1::LogMark first = store_->NewestMark();
  Reopen();
  EXPECT_EQ(store_->NewestMark().term(), first.term()) << "nothing appended yet";
  ASSERT_TRUE(store_->Append({Submitted(2, 20)}).ok());
  EXPECT_NE(store_->NewestMark().term(), first.term());
  v1::LogMark beyond = first;
  beyond.set_sequence(2);
  EXPECT_TRUE(store_->Covers(first));
  EXPECT_FALSE(store_->Covers(beyond)) << "another process appended event 2";
}

INSTANTIATE_TEST_SUITE_P(, DurableEventLogTest, DurableStores(), StoreName);
INSTANTIATE_TEST_SUITE_P(, EventLogTest, EveryEventLog(), StoreName);

}  // namespace
}  // namespace trainyard::controller
