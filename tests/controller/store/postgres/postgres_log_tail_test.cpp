// Tests how a standby reads the log of a leader.
#include "controller/store/postgres/postgres_log_tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/postgres_event_log.h"
#include "controller/store/postgres/postgres_schema.h"
#include "tests/controller/store/postgres/postgres_fixture.h"

namespace trainyard::controller {
namespace {

std::vector<v1::Event> EventsOfJob(int64_t job_id, int count) {
  std::vector<v1::Event> events(count);
  for (int i = 0; i < count; ++i) {
    events[i].mutable_alert_raised()->set_job_id(job_id);
    events[i].mutable_alert_raised()->set_message(absl::StrCat(i));
  }
  return events;
}

class PostgresLogTailTest : public PostgresFixture {
 protected:
  void SetUp() override {
    PostgresFixture::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const auto database = Connect();
    ASSERT_TRUE(MigrateEvents(*database).ok());
    auto log = PostgresEventLog::Open(settings(), BeginNextTerm(*database).value());
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *std::move(log);
    auto tail = PostgresLogTail::Open(settings());
    ASSERT_TRUE(tail.ok()) << tail.status();
    tail_ = *std::move(tail);
  }

  LogTail::Batch Read(uint64_t after) const {
    auto batch = tail_->ReadAfter(after);
    EXPECT_TRUE(batch.ok()) << batch.status();
    return batch.ok() ? *std::move(batch) : LogTail::Batch();
  }
  void WriteSnapshot(uint64_t last_sequence) const {
    v1::Snapshot snapshot;
    snapshot.set_last_sequence(last_sequence);
    ASSERT_TRUE(log_->WriteSnapshot(snapshot).ok());
  }

  std::unique_ptr<PostgresEventLog> log_;
  std::unique_ptr<PostgresLogTail> tail_;
};

TEST_F(PostgresLogTailTest, TailReadsAllEventsInBatches) {
  const LogTail::Batch empty = Read(0);
  EXPECT_TRUE(empty.restarts);
  EXPECT_FALSE(empty.snapshot.has_value());
  EXPECT_EQ(empty.last_sequence, 0u);
  EXPECT_FALSE(empty.has_more);
  ASSERT_TRUE(log_->Append(EventsOfJob(1, 1300)).ok());
  LogTail::Batch batch = Read(0);
  EXPECT_TRUE(batch.has_more);
  std::size_t events = batch.events.size();
  while (batch.has_more) {
    EXPECT_EQ(batch.last_sequence, events);
    batch = Read(batch.last_sequence);
    EXPECT_FALSE(batch.restarts);
    events += batch.events.size();
  }
  EXPECT_EQ(events, 1300u);
  EXPECT_EQ(Read(1300).last_sequence, 1300u);
  EXPECT_TRUE(Read(1300).events.empty());
  EXPECT_FALSE(Read(1300).restarts);
}

TEST_F(PostgresLogTailTest, TailBeginsWithTheSnapshot) {
  ASSERT_TRUE(log_->Append(EventsOfJob(1, 5)).ok());
  WriteSnapshot(3);
  const LogTail::Batch batch = Read(0);
  EXPECT_TRUE(batch.restarts);
  ASSERT_TRUE(batch.snapshot.has_value());
  EXPECT_EQ(batch.snapshot->last_sequence(), 3u);
  EXPECT_EQ(batch.events.size(), 2u);
  EXPECT_EQ(batch.last_sequence, 5u);
  EXPECT_FALSE(Read(1).restarts) << "no event after it was removed";
}

TEST_F(PostgresLogTailTest, TailRestartsWhereEventsWereRemoved) {
  ASSERT_TRUE(log_->Append(EventsOfJob(1, 2)).ok());
  ASSERT_TRUE(log_->Append(EventsOfJob(2, 2)).ok());
  ASSERT_TRUE(log_->Append(EventsOfJob(3, 2)).ok());
  WriteSnapshot(5);
  ASSERT_TRUE(log_->DropJobEvents(2).ok());
  const LogTail::Batch before = Read(1);
  EXPECT_FALSE(before.restarts);
  EXPECT_EQ(before.last_sequence, 2u) << "the events before the gap";
  EXPECT_TRUE(before.has_more);
  const LogTail::Batch restarted = Read(before.last_sequence);
  EXPECT_TRUE(restarted.restarts);
  EXPECT_EQ(restarted.snapshot->last_sequence(), 5u);
  EXPECT_EQ(restarted.last_sequence, 6u);
}

TEST_F(PostgresLogTailTest, TailNoticesARestartOfTheDatabase) {
  ASSERT_TRUE(tail_->IsSameSession());
  ASSERT_TRUE(server().CrashAndRestart().ok());
  EXPECT_FALSE(tail_->IsSameSession());
  EXPECT_FALSE(tail_->ReadAfter(0).ok());
}

}  // namespace
}  // namespace trainyard::controller
