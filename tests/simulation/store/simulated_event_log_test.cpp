// Tests the fence of the simulated event log as tests/controller/store/postgres does. The contract
// tests of controller/store/events run on this log, too.
#include "tests/simulation/store/simulated_event_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace trainyard::simulation {
namespace {

v1::Event AlertOf(int64_t job_id) {
  v1::Event event;
  event.mutable_alert_raised()->set_job_id(job_id);
  return event;
}

v1::Snapshot SnapshotOf(uint64_t last_sequence) {
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(last_sequence);
  return snapshot;
}

class SimulatedEventLogTest : public testing::Test {
 protected:
  // Opens the log as the leader of the next term.
  std::unique_ptr<SimulatedEventLog> Lead() {
    const int64_t session = database_.OpenSession();
    const auto term = database_.BeginTerm(session, database_.term(), "test");
    auto log = SimulatedEventLog::Open(database_, session, term.value_or(0));
    EXPECT_TRUE(log.ok()) << log.status();
    return log.ok() ? *std::move(log) : nullptr;
  }

  Timestamp now_ = 10'000;
  SimulatedDatabase database_{[this] { return now_; }};
};

TEST_F(SimulatedEventLogTest, ALeaderOfAnOlderTermWritesNothing) {
  const auto older = Lead();
  ASSERT_TRUE(older->Append({AlertOf(1), AlertOf(1)}).ok());
  ASSERT_TRUE(older->WriteSnapshot(SnapshotOf(1)).ok());
  const auto newer = Lead();
  EXPECT_TRUE(absl::IsAborted(older->Append({AlertOf(2)})));
  EXPECT_TRUE(absl::IsAborted(older->TryWrite()));
  EXPECT_TRUE(absl::IsAborted(older->WriteSnapshot(SnapshotOf(2))));
  EXPECT_TRUE(absl::IsAborted(older->DropJobEvents(1).status()));
  EXPECT_TRUE(absl::IsAborted(older->DropNodeEvents(100).status()));
  EXPECT_TRUE(absl::IsAborted(older->FinishDeletion(1).status()));
  EXPECT_EQ(newer->Recover()->last_sequence, 2U);
  EXPECT_EQ(newer->Recover()->snapshot->last_sequence(), 1U);
  ASSERT_TRUE(newer->Append({AlertOf(3)}).ok());
  EXPECT_EQ(newer->Recover()->last_sequence, 3U);
  EXPECT_FALSE(older->Recover().ok()) << "it has not seen the newest event";
}

TEST_F(SimulatedEventLogTest, ASnapshotOfEventsThatAnOlderCopyLacksIsRefused) {
  const auto leader = Lead();
  ASSERT_TRUE(leader->Append({AlertOf(1)}).ok());
  database_.TakeCopy();
  ASSERT_TRUE(leader->Append({AlertOf(2)}).ok());
  database_.PutCopyBack();
  const int64_t session = database_.OpenSession();
  EXPECT_TRUE(absl::IsAborted(leader->WriteSnapshot(SnapshotOf(2), session)));
  EXPECT_TRUE(leader->WriteSnapshot(SnapshotOf(1), session).ok());
}

TEST_F(SimulatedEventLogTest, ATermBeginsAfterTheOpenAppend) {
  const auto leader = Lead();
  ASSERT_TRUE(leader->BeginAppend().ok());
  const int64_t candidate = database_.OpenSession();
  EXPECT_FALSE(database_.BeginTerm(candidate, 1, "next").has_value());
  EXPECT_FALSE(database_.PassTerm(1, 5).has_value()) << "the term is locked";
  EXPECT_TRUE(database_.Renew(1).ok());
  ASSERT_TRUE(leader->InsertEvents({controller::ToLogRecords({AlertOf(1)}), {}}).ok());
  ASSERT_TRUE(leader->CommitAppend().ok());
  EXPECT_EQ(database_.BeginTerm(candidate, 1, "next"), 2);
  EXPECT_EQ(database_.BeginTerm(candidate, 1, "again"), 0) << "the row names another term";
  EXPECT_EQ(database_.last_sequence(), 1U);
}

TEST_F(SimulatedEventLogTest, TheEndOfASessionUndoesItsTransaction) {
  const auto leader = Lead();
  ASSERT_TRUE(leader->BeginAppend().ok());
  ASSERT_TRUE(leader->InsertEvents({controller::ToLogRecords({AlertOf(1)}), {}}).ok());
  database_.EndWriters();
  EXPECT_EQ(database_.last_sequence(), 0U);
  EXPECT_EQ(database_.BeginTerm(database_.OpenSession(), 1, "next"), 2);
}

TEST_F(SimulatedEventLogTest, OneSessionHasTheLock) {
  const int64_t leader = database_.OpenSession();
  const int64_t candidate = database_.OpenSession();
  EXPECT_TRUE(database_.TryLock(leader));
  EXPECT_FALSE(database_.TryLock(candidate));
  database_.EndLockHolder(candidate);
  EXPECT_FALSE(database_.TryLock(candidate)) << "the holder is neither the leader nor stalled";
  now_ += 10'000;
  database_.EndLockHolder(candidate);
  EXPECT_TRUE(database_.TryLock(candidate));
}

TEST_F(SimulatedEventLogTest, AnOlderCopyBringsBackItsRowAndItsEvents) {
  auto log = Lead();
  ASSERT_TRUE(log->Append({AlertOf(1)}).ok());
  database_.TakeCopy();
  const v1::LogMark copied = log->NewestMark();
  ASSERT_TRUE(log->Append({AlertOf(2)}).ok());
  const v1::LogMark lost = log->NewestMark();
  Lead();
  EXPECT_EQ(database_.term(), 2);
  database_.PutCopyBack();
  EXPECT_TRUE(database_.Sessions().empty());
  log = Lead();
  EXPECT_EQ(database_.term(), 2) << "the copy has term 1";
  EXPECT_EQ(log->Recover()->last_sequence, 1U);
  EXPECT_TRUE(log->Covers(copied));
  EXPECT_FALSE(log->Covers(lost));
}

}  // namespace
}  // namespace trainyard::simulation
