// Tests what the contract tests do not reach: the term of the leader, crashes, and damage.
#include "controller/store/postgres/postgres_event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/leader_table.h"
#include "controller/store/postgres/postgres_schema.h"
#include "tests/controller/store/child_process.h"
#include "tests/controller/store/postgres/postgres_fixture.h"

namespace trainyard::controller {
namespace {

using testing::AllOf;
using testing::HasSubstr;

v1::Event AlertNumber(int64_t number) {
  v1::Event event;
  event.set_time_ms(number);
  event.mutable_alert_raised()->set_job_id(1);
  event.mutable_alert_raised()->set_message(absl::StrCat("alert ", number));
  return event;
}

std::vector<v1::Event> AlertsFrom(int64_t first, int64_t count) {
  std::vector<v1::Event> events;
  for (int64_t number = first; number < first + count; ++number) {
    events.push_back(AlertNumber(number));
  }
  return events;
}

// Returns a snapshot whose compressed size is at least `bytes`.
v1::Snapshot NoisySnapshot(uint64_t last_sequence, std::size_t bytes) {
  std::mt19937_64 random(last_sequence);
  std::string noise;
  while (noise.size() < bytes) noise += absl::StrCat(absl::Hex(random(), absl::kZeroPad16));
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(last_sequence);
  snapshot.add_job_details()->set_origin_list(std::move(noise));
  return snapshot;
}

class PostgresEventLogTest : public PostgresFixture {
 protected:
  // Opens the log as the leader of the next term.
  std::unique_ptr<PostgresEventLog> Lead() const {
    const auto database = Connect();
    EXPECT_TRUE(MigrateEvents(*database).ok());
    auto log = PostgresEventLog::Open(settings(), BeginNextTerm(*database).value());
    EXPECT_TRUE(log.ok()) << log.status();
    return log.ok() ? *std::move(log) : nullptr;
  }
  int64_t Count(const std::string& what) const {
    return Connect()->QueryInt64(absl::StrCat("SELECT COUNT(*) FROM ", what)).value_or(-1);
  }
  void RunSql(const std::string& sql) const {
    const absl::Status status = Connect()->RunScript(sql);
    ASSERT_TRUE(status.ok()) << status;
  }
};

TEST_F(PostgresEventLogTest, ALeaderOfAnOlderTermWritesNothing) {
  const auto older = Lead();
  ASSERT_TRUE(older->Append(AlertsFrom(1, 3)).ok());
  v1::Event deletion;
  deletion.mutable_job_deleted()->set_job_id(1);
  ASSERT_TRUE(older->Append({deletion}).ok());
  ASSERT_TRUE(older->WriteSnapshot(NoisySnapshot(2, 10)).ok());
  const auto newer = Lead();
  const int64_t parts = Count("snapshot_part");

  const absl::Status status = older->Append({AlertNumber(9)});
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("term 1 is lost"), HasSubstr("term 2 has begun")));
  EXPECT_TRUE(absl::IsAborted(older->TryWrite()));
  EXPECT_TRUE(absl::IsAborted(older->WriteSnapshot(NoisySnapshot(3, 10))));
  EXPECT_TRUE(absl::IsAborted(older->DropJobEvents(1).status()));
  EXPECT_TRUE(absl::IsAborted(older->DropNodeEvents(100).status()));
  EXPECT_TRUE(absl::IsAborted(older->FinishDeletion(1).status()));
  EXPECT_EQ(Count("event"), 4);
  EXPECT_EQ(Count("snapshot_part"), parts);
  EXPECT_EQ(newer->Recover()->snapshot->last_sequence(), 2U);

  ASSERT_TRUE(newer->Append({AlertNumber(5)}).ok());
  EXPECT_EQ(newer->Recover()->last_sequence, 5U);
  EXPECT_TRUE(absl::IsAborted(PostgresEventLog::Open(settings(), 1).status()));
  EXPECT_TRUE(absl::IsAborted(PostgresEventLog::Open(settings(), 0).status()));
}

// The next leader sees every acknowledged event, because its term begins after the last append.
TEST_F(PostgresEventLogTest, ATermBeginsAfterTheOpenAppend) {
  Lead();
  const auto writer = Connect();
  auto transaction = BeginLeaderWrite(1, *writer);
  ASSERT_TRUE(transaction.ok()) << transaction.status();
  std::atomic<bool> begun = false;
  std::thread next([&] {
    EXPECT_EQ(BeginNextTerm(*Connect()).value(), 2);
    begun = true;
  });
  const auto waiting = [&] {
    return Count("pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%leader%'");
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (waiting() == 0 && std::chrono::steady_clock::now() < deadline) {
    ASSERT_TRUE(writer->Run("SELECT 1").ok());
  }
  EXPECT_FALSE(begun);
  ASSERT_TRUE(transaction->Commit().ok());
  next.join();
  EXPECT_TRUE(begun);
}

// The row of the leader in an older copy may name the term of a leader that still runs.
TEST_F(PostgresEventLogTest, ASnapshotOfEventsThatAnOlderCopyLacksIsRefused) {
  const auto older = Lead();
  ASSERT_TRUE(older->Append(AlertsFrom(1, 10)).ok());
  RunSql("DELETE FROM event WHERE seq > 5");
  const absl::Status status = older->WriteSnapshot(NoisySnapshot(8, 10));
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("event 8 of this controller is not in the log"),
                    HasSubstr("ends with event 5")));

  const auto again = PostgresEventLog::Open(settings(), 1);
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_TRUE((*again)->Append(AlertsFrom(6, 10)).ok());
  EXPECT_TRUE(absl::IsAborted(older->WriteSnapshot(NoisySnapshot(8, 10))))
      << "event 8 is another event now";
  EXPECT_EQ(Count("snapshot_part"), 0);
  ASSERT_TRUE(older->WriteSnapshot(NoisySnapshot(5, 10)).ok());
  ASSERT_TRUE((*again)->WriteSnapshot(NoisySnapshot(15, 10)).ok());
}

TEST_F(PostgresEventLogTest, AFullDiskChangesNothing) {
  const auto log = Lead();
  ASSERT_TRUE(log->Append({AlertNumber(1)}).ok());
  RunSql(
      "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION "
      "'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$; "
      "CREATE TRIGGER full_disk AFTER INSERT ON event EXECUTE FUNCTION full_disk()");
  EXPECT_TRUE(absl::IsResourceExhausted(log->Append(AlertsFrom(2, 2))));
  EXPECT_EQ(log->Recover()->last_sequence, 1U);
  EXPECT_EQ(log->NewestMark().sequence(), 1U);
  RunSql("DROP TRIGGER full_disk ON event");
  EXPECT_TRUE(log->TryWrite().ok());
  EXPECT_TRUE(log->Append({AlertNumber(2)}).ok());
  EXPECT_EQ(log->Recover()->last_sequence, 2U);
}

TEST_F(PostgresEventLogTest, LargeBatchesAndLongLogsAreRead) {
  const auto log = Lead();
  ASSERT_TRUE(log->Append(AlertsFrom(1, 10'000)).ok());
  v1::Event large = AlertNumber(10'001);
  large.mutable_alert_raised()->set_message(std::string(20 << 20, 'x'));
  ASSERT_TRUE(log->Append({large, AlertNumber(10'002)}).ok());
  const auto recovery = log->Recover();
  ASSERT_TRUE(recovery.ok()) << recovery.status();
  ASSERT_EQ(recovery->events.size(), 10'002U);
  for (const int64_t number : {1, 512, 513, 4097, 10'000, 10'002}) {
    EXPECT_EQ(recovery->events[static_cast<std::size_t>(number) - 1].time_ms(), number);
  }
  EXPECT_EQ(recovery->events[10'000].alert_raised().message().size(), std::size_t{20} << 20);
  EXPECT_GT(log->Usage()->used_bytes, 1 << 20);
}

TEST_F(PostgresEventLogTest, ASnapshotOfManyRowsReplacesTheOneBefore) {
  const auto log = Lead();
  ASSERT_TRUE(log->Append(AlertsFrom(1, 40)).ok());
  ASSERT_TRUE(log->WriteSnapshot(NoisySnapshot(10, 5 << 20)).ok());
  EXPECT_EQ(Count("snapshot_part"), 6);
  RunSql("INSERT INTO snapshot_part SELECT part_set + 1000, part, block FROM snapshot_part");
  const v1::Snapshot second = NoisySnapshot(20, 2 << 20);
  ASSERT_TRUE(log->WriteSnapshot(second).ok());
  EXPECT_EQ(Count("snapshot_part"), 3) << "rows of interrupted snapshots are removed";
  const auto recovery = log->Recover();
  ASSERT_TRUE(recovery.ok()) << recovery.status();
  EXPECT_EQ(recovery->snapshot->SerializeAsString(), second.SerializeAsString());
  EXPECT_EQ(recovery->events.size(), 20U);
}

TEST_F(PostgresEventLogTest, DamageOfTheSnapshotIsFound) {
  const auto log = Lead();
  ASSERT_TRUE(log->Append(AlertsFrom(1, 10)).ok());
  const auto expect_damage = [&](const std::string& sql) {
    ASSERT_TRUE(log->WriteSnapshot(NoisySnapshot(10, 3 << 20)).ok());
    RunSql(sql);
    const absl::Status status = log->Recover().status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << sql << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("snapshot at event 10 is damaged"));
  };
  expect_damage("UPDATE snapshot_part SET block = block || 'x'::bytea WHERE part = 1");
  expect_damage("DELETE FROM snapshot_part WHERE part = 1");
  expect_damage("DELETE FROM snapshot_part WHERE part = (SELECT MAX(part) FROM snapshot_part)");
  expect_damage(
      "UPDATE snapshot_part SET block = (SELECT block FROM snapshot_part WHERE part = 2) WHERE "
      "part = 1");
}

TEST_F(PostgresEventLogTest, DamageOfEventsIsFound) {
  const auto log = Lead();
  ASSERT_TRUE(log->Append(AlertsFrom(1, 10)).ok());
  RunSql(
      "UPDATE event SET (payload, checksum) = (SELECT payload, checksum FROM event WHERE seq = "
      "3) WHERE seq = 4");
  absl::Status status = log->Recover().status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("event 4 is damaged"), HasSubstr("restore a backup")));
  EXPECT_TRUE(absl::IsDataLoss(log->ReadJobEvents(1, 100).status()));
  RunSql("DELETE FROM event WHERE seq = 4");
  status = log->Recover().status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("event 4 is missing"));
  RunSql("DELETE FROM event WHERE seq > 3");
  EXPECT_THAT(std::string(log->Recover().status().message()), HasSubstr("ends with event 10"));
}

TEST_F(PostgresEventLogTest, ADamagedArchivedJobIsReported) {
  const auto log = Lead();
  std::vector<v1::ArchivedJob> jobs(2);
  jobs[0].mutable_job()->set_id(1);
  jobs[1].mutable_job()->set_id(2);
  ASSERT_TRUE(log->Append(AlertsFrom(1, 1), jobs).ok());
  RunSql(
      "UPDATE archived_record SET (block, time_block) = (SELECT block, time_block FROM "
      "archived_record WHERE newest = -2) WHERE newest = -1");
  const absl::Status status = log->archive().Find(1).status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("job 1 "));
  EXPECT_TRUE(absl::IsDataLoss(log->archive().ForEachTime(-1, [](const v1::JobTime&) {})));
  EXPECT_TRUE(log->archive().Find(2).ok());
}

TEST_F(PostgresEventLogTest, AKilledLeaderKeepsExactlyWhatItAcknowledged) {
  constexpr int64_t kBatch = 7;
  std::mt19937 random(20261130);
  for (int round = 0; round < 6; ++round) {
    ResetSchema();
    ChildProcess child([&](int report_fd) {
      const auto log = Lead();
      for (int64_t first = 1;; first += kBatch) {
        if (!log->Append(AlertsFrom(first, kBatch)).ok()) _exit(1);
        ChildProcess::Report(report_fd, first + kBatch - 1);
      }
    });
    int64_t acknowledged = 0;
    for (unsigned reports = random() % 40 + 1; reports > 0; --reports) {
      ASSERT_TRUE(child.Read(acknowledged));
    }
    for (unsigned spin = random() % 200'000; spin > 0; --spin) asm volatile("");
    child.Kill();
    while (child.Read(acknowledged)) {
    }
    // In every second round, the server crashes as well.
    if (round % 2 == 1) {
      ASSERT_TRUE(server().CrashAndRestart().ok());
    }
    const auto recovery = Lead()->Recover();
    ASSERT_TRUE(recovery.ok()) << recovery.status();
    const auto recovered = static_cast<int64_t>(recovery->last_sequence);
    // One more batch may have been committed without an acknowledgement.
    EXPECT_TRUE(recovered == acknowledged || recovered == acknowledged + kBatch)
        << "round " << round << ": acknowledged " << acknowledged << ", recovered " << recovered;
  }
}

}  // namespace
}  // namespace trainyard::controller
