// Tests that need a log on disk: crashes, torn files and damage.
#include "controller/store/events/sqlite_event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "controller/store/support/checksum.h"
#include "tests/controller/store/child_process.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

v1::Event Numbered(int64_t number) {
  v1::Event event;
  event.set_time_ms(number);
  event.mutable_alert_raised()->set_job_id(1);
  event.mutable_alert_raised()->set_message(absl::StrCat("payload of event ", number, "."));
  return event;
}

// Returns batch number `batch`, counted from 1. The batch has `batch` % 5 + 1 events. Events are
// numbered continuously across batches.
std::vector<v1::Event> Batch(int64_t batch, int64_t& next_number) {
  std::vector<v1::Event> events;
  for (int64_t i = 0; i <= batch % 5; ++i) events.push_back(Numbered(next_number++));
  return events;
}

// Returns the number of events in the log. Fails the test unless the events are numbered 1, 2, 3,
// ... without gaps.
int64_t RecoverCount(const std::string& path) {
  auto log = SqliteEventLog::Open(path);
  EXPECT_TRUE(log.ok()) << log.status();
  if (!log.ok()) return -1;
  auto recovery = (*log)->Recover();
  EXPECT_TRUE(recovery.ok()) << recovery.status();
  if (!recovery.ok()) return -1;
  int64_t expected = recovery->snapshot.has_value() ? recovery->snapshot->next_job_id() : 1;
  for (const v1::Event& event : recovery->events) {
    EXPECT_EQ(event.SerializeAsString(), Numbered(expected).SerializeAsString());
    ++expected;
  }
  EXPECT_EQ(recovery->last_sequence, static_cast<uint64_t>(expected - 1));
  return expected - 1;
}

void AppendEventsForever(const std::string& path, int report_fd) {
  auto log = SqliteEventLog::Open(path);
  if (!log.ok()) _exit(2);
  int64_t next_number = 1;
  for (int64_t batch = 1;; ++batch) {
    if (!(*log)->Append(Batch(batch, next_number)).ok()) _exit(3);
    ChildProcess::Report(report_fd, next_number - 1);
    if (batch % 16 != 0) continue;
    v1::Snapshot snapshot;
    snapshot.set_last_sequence(static_cast<uint64_t>(next_number - 1));
    snapshot.set_next_job_id(next_number);
    if (!(*log)->WriteSnapshot(snapshot).ok()) _exit(4);
  }
}

TEST(SqliteEventLogTest, KilledAtAnyMomentKeepsExactlyWhatItAcknowledged) {
  std::mt19937 random(20261121);
  for (int round = 0; round < 12; ++round) {
    TemporaryDirectory temporary;
    const std::string path = temporary.File("events.db");
    ChildProcess child([&](int report_fd) { AppendEventsForever(path, report_fd); });
    int64_t acknowledged = 0;
    const int reports = static_cast<int>(random() % 60) + 1;
    for (int i = 0; i < reports; ++i) ASSERT_TRUE(child.Read(acknowledged));
    // Delays the kill, so that the kill hits a random point of the following appends.
    for (unsigned spin = random() % 200'000; spin > 0; --spin) asm volatile("");
    child.Kill();
    while (child.Read(acknowledged)) {
    }
    const int64_t recovered = RecoverCount(path);
    // At most one more batch may have been committed without an acknowledgement. A batch is never
    // committed in part.
    EXPECT_GE(recovered, acknowledged) << "round " << round;
    std::set<int64_t> batch_ends;
    int64_t next_number = 1;
    for (int64_t batch = 1; next_number <= acknowledged + 10; ++batch) {
      Batch(batch, next_number);
      batch_ends.insert(next_number - 1);
    }
    EXPECT_TRUE(recovered == acknowledged || recovered == *batch_ends.upper_bound(acknowledged))
        << "round " << round << ": acknowledged " << acknowledged << ", recovered " << recovered;
  }
}

// Copies the log's files at one moment. The copy equals the files after a power cut on a disk that
// keeps exactly the synced data.
void CopyFiles(const std::string& from, const std::string& to) {
  fs::copy_file(from, to);
  fs::copy_file(from + "-wal", to + "-wal");
}

TEST(SqliteEventLogTest, FilesCopiedAfterEachAppendHoldAllOfIt) {
  TemporaryDirectory temporary;
  auto log = SqliteEventLog::Open(temporary.File("events.db"));
  ASSERT_TRUE(log.ok()) << log.status();
  int64_t next_number = 1;
  for (int64_t batch = 1; batch <= 20; ++batch) {
    ASSERT_TRUE((*log)->Append(Batch(batch, next_number)).ok());
    const std::string copy = temporary.File(absl::StrCat("copy", batch, ".db"));
    CopyFiles(temporary.File("events.db"), copy);
    EXPECT_EQ(RecoverCount(copy), next_number - 1);
  }
}

TEST(SqliteEventLogTest, TornWriteAheadLogLosesOnlyWholeNewestBatches) {
  TemporaryDirectory temporary;
  auto log = SqliteEventLog::Open(temporary.File("events.db"));
  ASSERT_TRUE(log.ok()) << log.status();
  std::set<int64_t> batch_ends = {0};
  int64_t next_number = 1;
  for (int64_t batch = 1; batch <= 20; ++batch) {
    ASSERT_TRUE((*log)->Append(Batch(batch, next_number)).ok());
    batch_ends.insert(next_number - 1);
  }
  const auto size = fs::file_size(temporary.File("events.db-wal"));
  std::mt19937 random(7);
  int64_t shortest = next_number;
  for (int i = 0; i < 40; ++i) {
    const std::string copy = temporary.File(absl::StrCat("torn", i, ".db"));
    CopyFiles(temporary.File("events.db"), copy);
    fs::resize_file(copy + "-wal", random() % size);
    const int64_t recovered = RecoverCount(copy);
    EXPECT_TRUE(batch_ends.contains(recovered)) << recovered;
    shortest = std::min(shortest, recovered);
  }
  EXPECT_LT(shortest, next_number / 2) << "no cut went deep enough to show anything";
}

// Changes one byte of the first occurrence of `text` in the file.
void DamageText(const std::string& path, const std::string& text) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t at = bytes.find(text);
  ASSERT_NE(at, std::string::npos);
  file.seekp(static_cast<std::streamoff>(at));
  file.put('#');
}

// Returns a snapshot of the events up to `last_sequence`. The snapshot's compressed size is at
// least `bytes`.
v1::Snapshot LargeSnapshot(uint64_t last_sequence, std::size_t bytes) {
  std::mt19937_64 random(last_sequence);
  std::string noise;
  while (noise.size() < bytes) noise += absl::StrCat(absl::Hex(random(), absl::kZeroPad16));
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(last_sequence);
  snapshot.set_next_job_id(static_cast<int64_t>(last_sequence) + 1);
  snapshot.add_job_details()->set_origin_list(std::move(noise));
  return snapshot;
}

class LargeSnapshotTest : public testing::Test {
 protected:
  LargeSnapshotTest() {
    auto log = SqliteEventLog::Open(path_);
    EXPECT_TRUE(log.ok()) << log.status();
    log_ = *std::move(log);
    Append(40);
    auto reader = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kReader);
    EXPECT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }

  void Append(int events) {
    for (int i = 0; i < events; ++i) ASSERT_TRUE(log_->Append({Numbered(next_number_++)}).ok());
  }
  int64_t Count(const std::string& what) {
    return reader_->QueryInt64(absl::StrCat("SELECT COUNT(*) FROM ", what)).value_or(-1);
  }
  void ExpectRecovers(const v1::Snapshot& snapshot) {
    log_.reset();
    auto log = SqliteEventLog::Open(path_);
    ASSERT_TRUE(log.ok()) << log.status();
    const auto recovery = (*log)->Recover();
    ASSERT_TRUE(recovery.ok()) << recovery.status();
    EXPECT_EQ(recovery->snapshot->SerializeAsString(), snapshot.SerializeAsString());
    EXPECT_EQ(recovery->last_sequence, static_cast<uint64_t>(next_number_ - 1));
  }

  TemporaryDirectory temporary_;
  const std::string path_ = temporary_.File("events.db");
  std::unique_ptr<SqliteEventLog> log_;
  std::unique_ptr<SqliteDatabase> reader_;
  int64_t next_number_ = 1;
};

TEST_F(LargeSnapshotTest, AppendsAreCommittedWhileItIsWritten) {
  const v1::Snapshot snapshot = LargeSnapshot(40, 32 << 20);
  std::atomic<bool> written{false};
  std::thread writer([&] {
    EXPECT_TRUE(log_->WriteSnapshot(snapshot).ok());
    written = true;
  });
  while (!written && Count("snapshot_part") == 0) std::this_thread::yield();
  int between = 0;
  while (!written) {
    Append(1);
    if (Count("snapshot") == 0) ++between;
  }
  writer.join();
  EXPECT_GE(between, 5) << "appends waited until the whole snapshot was written";
  ExpectRecovers(snapshot);
}

TEST_F(LargeSnapshotTest, ReplacesTheOneBeforeAndLeavesNoParts) {
  ASSERT_TRUE(log_->WriteSnapshot(LargeSnapshot(10, 2 << 20)).ok());
  const int64_t parts = Count("snapshot_part");
  EXPECT_GT(parts, 1);
  ASSERT_TRUE(log_->WriteSnapshot(LargeSnapshot(20, 2 << 20)).ok());
  EXPECT_EQ(Count("snapshot_part"), parts);
  const v1::Snapshot small = LargeSnapshot(30, 100);
  ASSERT_TRUE(log_->WriteSnapshot(small).ok());
  EXPECT_EQ(Count("snapshot_part"), 0);
  ExpectRecovers(small);
}

// If the controller crashes after it has stored only some parts of a snapshot, the previous
// snapshot remains in use.
TEST_F(LargeSnapshotTest, PartsOfAnUnfinishedOneAreIgnoredAndRemoved) {
  const v1::Snapshot first = LargeSnapshot(10, 2 << 20);
  ASSERT_TRUE(log_->WriteSnapshot(first).ok());
  const int64_t parts = Count("snapshot_part");
  auto writer = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kWriter);
  ASSERT_TRUE((*writer)
                  ->RunScript("INSERT INTO snapshot_part SELECT id + 1048576, payload FROM "
                              "snapshot_part LIMIT 3")
                  .ok());
  auto recovery = log_->Recover();
  ASSERT_TRUE(recovery.ok()) << recovery.status();
  EXPECT_EQ(recovery->snapshot->SerializeAsString(), first.SerializeAsString());
  const v1::Snapshot second = LargeSnapshot(20, 2 << 20);
  ASSERT_TRUE(log_->WriteSnapshot(second).ok());
  EXPECT_EQ(Count("snapshot_part"), parts);
  ExpectRecovers(second);
}

TEST_F(LargeSnapshotTest, AMissingOrChangedPartIsDamage) {
  ASSERT_TRUE(log_->WriteSnapshot(LargeSnapshot(10, 2 << 20)).ok());
  auto writer = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kWriter);
  ASSERT_TRUE((*writer)
                  ->RunScript("UPDATE snapshot_part SET payload = CAST(payload || X'00' AS BLOB) "
                              "WHERE id = (SELECT MIN(id) FROM snapshot_part)")
                  .ok());
  EXPECT_EQ(log_->Recover().status().code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE((*writer)
                  ->RunScript("DELETE FROM snapshot_part WHERE id = (SELECT MIN(id) FROM "
                              "snapshot_part)")
                  .ok());
  const absl::Status status = log_->Recover().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("snapshot at event 10 is damaged"));
}

class DamagedEventLogTest : public testing::Test {
 protected:
  DamagedEventLogTest() {
    auto log = SqliteEventLog::Open(path_);
    int64_t next_number = 1;
    for (int64_t batch = 1; batch <= 40; ++batch) {
      EXPECT_TRUE((*log)->Append(Batch(batch, next_number)).ok());
    }
  }

  absl::Status RecoverStatus() {
    auto log = SqliteEventLog::Open(path_);
    return log.ok() ? (*log)->Recover().status() : log.status();
  }

  // Changes a stored value as a memory fault or a bug would: the checksum of the page remains
  // valid.
  void ChangePayload(const std::string& table, const std::string& row) {
    auto database = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kWriter);
    ASSERT_TRUE(
        (*database)
            ->RunScript(absl::StrCat(
                "UPDATE ", table, " SET payload = CAST(payload || X'00' AS BLOB) ", "WHERE ", row))
            .ok());
    ASSERT_EQ((*database)->ChangedRows(), 1);
  }

  TemporaryDirectory temporary_;
  const std::string path_ = temporary_.File("events.db");
};

TEST_F(DamagedEventLogTest, DamagedPageKeepsTheLogShutAndNamesFileByteAndNextStep) {
  DamageText(path_, "payload of event 17.");
  EXPECT_THAT(RecoverStatus().ToString(),
              testing::AllOf(HasSubstr("DATA_LOSS"), HasSubstr(path_),
                             testing::ContainsRegex("page at byte [0-9]+"),
                             HasSubstr("trainyard server restore")));
}

TEST_F(DamagedEventLogTest, NamesTheEventThatFailsItsChecksum) {
  ChangePayload("event", "seq = 17");
  const absl::Status status = RecoverStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr("event 17 is damaged"), HasSubstr("server restore")));
  auto log = SqliteEventLog::Open(path_);
  EXPECT_EQ((*log)->ReadJobEvents(1, 1000).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(DamagedEventLogTest, FindsMissingEvent) {
  auto database = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kWriter);
  ASSERT_TRUE((*database)->Run("DELETE FROM event WHERE seq = 9").ok());
  const absl::Status status = RecoverStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("event 9 is missing"));
}

TEST_F(DamagedEventLogTest, FindsEventInTheWrongPlace) {
  auto database = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kWriter);
  ASSERT_TRUE((*database)
                  ->RunScript("UPDATE event SET (payload, checksum) = (SELECT payload, checksum "
                              "FROM event WHERE seq = 3) WHERE seq = 4")
                  .ok());
  EXPECT_THAT(std::string(RecoverStatus().message()), HasSubstr("event 4 is damaged"));
}

TEST_F(DamagedEventLogTest, FindsDamagedSnapshot) {
  {
    auto log = SqliteEventLog::Open(path_);
    v1::Snapshot snapshot;
    snapshot.set_last_sequence(30);
    snapshot.add_nodes()->mutable_node()->set_name("node-in-the-snapshot");
    ASSERT_TRUE((*log)->WriteSnapshot(snapshot).ok());
  }
  ChangePayload("snapshot", "last_sequence = 30");
  const absl::Status status = RecoverStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("snapshot at event 30 is damaged"));
}

TEST_F(DamagedEventLogTest, ReadsTheSnapshotOfAVersionThatDidNotCompressThem) {
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(30);
  snapshot.set_next_job_id(7);
  ASSERT_TRUE((*SqliteEventLog::Open(path_))->WriteSnapshot(snapshot).ok());
  {
    const std::string raw = snapshot.SerializeAsString();
    auto database = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kWriter);
    ASSERT_TRUE((*database)
                    ->Run("UPDATE snapshot SET payload = ?, checksum = ?, sealed = 0", SqlBlob{raw},
                          static_cast<int64_t>(Checksum(raw, 30)))
                    .ok());
  }
  auto log = SqliteEventLog::Open(path_);
  const auto recovery = (*log)->Recover();
  ASSERT_TRUE(recovery.ok()) << recovery.status();
  EXPECT_EQ(recovery->snapshot->next_job_id(), 7);
}

TEST_F(DamagedEventLogTest, PageOfGarbageIsDataLoss) {
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    // The offset of page 3, the first page of a table. SQLite itself uses page 2.
    file.seekp(2 * 4096);
    file << std::string(4096, '\x7f');
  }
  EXPECT_EQ(RecoverStatus().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace trainyard::controller
