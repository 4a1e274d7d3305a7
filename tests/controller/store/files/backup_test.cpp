#include "controller/store/files/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "controller/store/stores.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

v1::Event Submitted(int64_t job_id) {
  v1::Event event;
  event.mutable_job_submitted()->set_job_id(job_id);
  event.mutable_job_submitted()->mutable_spec()->set_name(absl::StrCat("job-", job_id));
  return event;
}

StreamKey TelemetryOf(int64_t job_id) { return {job_id, 1, 0, v1::STREAM_KIND_TELEMETRY}; }
StreamKey OutputOf(int64_t job_id) { return {job_id, 1, 0, v1::STREAM_KIND_LOG}; }

// Stores the data of a job in the controller's order: first in the event log, then in the other
// stores.
void StoreJob(Stores& stores, int64_t job_id) {
  ASSERT_TRUE(stores.events->Append({Submitted(job_id)}).ok());
  ASSERT_TRUE(stores.metrics->Append({{TelemetryOf(job_id), 0, 10, {{"loss", 1, 1, 0.5}}}}).ok());
  ASSERT_TRUE(stores.logs->Append({{OutputOf(job_id), 0, 1, std::string(5000, 'x') + "\n"}}).ok());
}

int64_t EventCount(Stores& stores) {
  const auto recovery = stores.events->Recover();
  EXPECT_TRUE(recovery.ok()) << recovery.status();
  return recovery.ok() ? static_cast<int64_t>(recovery->last_sequence) : -1;
}

class BackupTest : public testing::Test {
 protected:
  Stores OpenStores(const std::string& name) {
    auto stores = OpenSqliteStores(temporary_.File(name));
    EXPECT_TRUE(stores.ok()) << stores.status();
    return stores.ok() ? *std::move(stores) : Stores();
  }

  absl::StatusOr<BackupSummary> Make(const std::string& name) {
    return BackUp(temporary_.File("data"), temporary_.File(name));
  }

  absl::StatusOr<BackupSummary> BringBack(const std::string& name, const std::string& to) {
    return Restore(temporary_.File(name), temporary_.File(to), 77);
  }

  void FillAndBackUp(int64_t jobs) {
    Stores stores = OpenStores("data");
    for (int64_t job = 1; job <= jobs; ++job) StoreJob(stores, job);
    const auto summary = Make("copy");
    ASSERT_TRUE(summary.ok()) << summary.status();
  }

  TemporaryDirectory temporary_;
};

TEST_F(BackupTest, BringsBackEverythingAndSkipsNumbers) {
  FillAndBackUp(20);
  const auto summary = BringBack("copy", "new");
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->last_sequence, 21u);
  Stores stores = OpenStores("new");
  const auto recovery = stores.events->Recover();
  ASSERT_EQ(recovery->events.size(), 21u);
  EXPECT_EQ(recovery->events[19].job_submitted().job_id(), 20);
  EXPECT_EQ(recovery->events[20].time_ms(), 77);
  EXPECT_GT(recovery->events[20].store_restored().skipped_job_ids(), 0);
  EXPECT_GT(recovery->events[20].store_restored().skipped_attempts(), 0);
  for (int64_t job = 1; job <= 20; ++job) {
    EXPECT_EQ(*stores.metrics->StoredOffset(TelemetryOf(job)), 10);
    EXPECT_EQ(*stores.logs->StoredOffset(OutputOf(job)), 5001);
    EXPECT_EQ(stores.metrics->Read({.job_id = job, .keys = {"loss"}})->front().last(0), 0.5);
  }
  EXPECT_EQ(fs::status(temporary_.File("copy")).permissions(), fs::perms::owner_all);
}

TEST_F(BackupTest, IsOfOneMomentWhileTheStoreIsWritten) {
  Stores stores = OpenStores("data");
  StoreJob(stores, 1);
  std::atomic<bool> done = false;
  std::atomic<int64_t> begun = 1;
  std::thread writer([&] {
    while (!done) StoreJob(stores, ++begun);
  });
  for (int i = 0; i < 6; ++i) {
    const int64_t before = begun;
    const std::string name = absl::StrCat("copy", i);
    const auto summary = Make(name);
    ASSERT_TRUE(summary.ok()) << summary.status();
    ASSERT_TRUE(BringBack(name, absl::StrCat("new", i)).ok());
    Stores restored = OpenStores(absl::StrCat("new", i));
    const int64_t jobs = EventCount(restored) - 1;
    EXPECT_GE(jobs, before - 1) << "what was there when the backup began is in it";
    // No data is restored for a job that the event log does not contain.
    EXPECT_EQ(*restored.metrics->StoredOffset(TelemetryOf(jobs + 1)), 0);
    EXPECT_EQ(*restored.logs->StoredOffset(OutputOf(jobs + 1)), 0);
    EXPECT_EQ(*restored.metrics->StoredOffset(TelemetryOf(before - 1)), before > 1 ? 10 : 0);
  }
  done = true;
  writer.join();
}

TEST_F(BackupTest, RefusesToOverwrite) {
  FillAndBackUp(1);
  EXPECT_EQ(Make("copy").status().code(), absl::StatusCode::kAlreadyExists);
  const auto restored = BringBack("copy", "data");
  EXPECT_EQ(restored.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(restored.status().message()),
              testing::AllOf(HasSubstr("metrics.db"), HasSubstr("--data-dir")));
  Stores stores = OpenStores("data");
  EXPECT_EQ(EventCount(stores), 1);
}

TEST_F(BackupTest, RefusesWhatIsNoStoreAndNoBackup) {
  EXPECT_EQ(Make("copy").status().code(), absl::StatusCode::kNotFound);
  fs::create_directory(temporary_.File("empty"));
  EXPECT_EQ(BringBack("empty", "new").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(fs::exists(temporary_.File("new")));
}

TEST_F(BackupTest, RefusesADirectoryInUse) {
  FillAndBackUp(1);
  const auto locked = DataDirectory::Open(temporary_.File("new"));
  ASSERT_TRUE(locked.ok());
  EXPECT_EQ(BringBack("copy", "new").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(BackupTest, FindsDamageInEveryFileBeforeItTouchesAnything) {
  FillAndBackUp(3);
  for (const char* name : {"events.db", "metrics.db", "logs.db", "backup"}) {
    const std::string path = temporary_.File(absl::StrCat("copy/", name));
    const auto middle = static_cast<std::streamoff>(fs::file_size(path) / 2);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(middle);
    const int old = file.get();
    file.seekp(middle);
    file.put(static_cast<char>(old ^ 1)).flush();
    const auto restored = BringBack("copy", "new");
    EXPECT_FALSE(restored.ok()) << name;
    EXPECT_THAT(std::string(restored.status().message()), HasSubstr("/copy")) << name;
    EXPECT_FALSE(fs::exists(temporary_.File("new"))) << name;
    file.seekp(middle);
    file.put(static_cast<char>(old)).flush();
  }
  EXPECT_TRUE(BringBack("copy", "new").ok());
}

TEST_F(BackupTest, ADamagedStoreIsNotBackedUp) {
  {
    Stores stores = OpenStores("data");
    for (int64_t job = 1; job <= 20; ++job) StoreJob(stores, job);
  }
  const std::string path = temporary_.File("data/metrics.db");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(fs::file_size(path)) - 2000);
  file.write("damage", 6).flush();
  const absl::Status status = Make("copy").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(
      std::string(status.message()),
      testing::AllOf(HasSubstr(path + ": "), HasSubstr("page at byte"), HasSubstr("checksum")));
  for (const auto& entry : fs::directory_iterator(temporary_.path())) {
    EXPECT_EQ(entry.path().filename(), "data") << "something is left of the copy";
  }
}

TEST_F(BackupTest, RemovesNothingThatIsNotItsOwn) {
  fs::create_directory(temporary_.File("copy.partial"));
  std::ofstream(temporary_.File("copy.partial/thesis")) << "the only copy";
  FillAndBackUp(1);
  EXPECT_TRUE(fs::exists(temporary_.File("copy.partial/thesis")));
}

TEST_F(BackupTest, ASecondRestoreOfOneBackupRepeatsNoNumber) {
  FillAndBackUp(3);
  constexpr int64_t kHourMs = 3'600'000;
  int64_t skipped_ids = 0;
  int64_t skipped_attempts = 0;
  for (int64_t hour = 0; hour < 3; ++hour) {
    const std::string name = absl::StrCat("new", hour);
    const auto summary =
        Restore(temporary_.File("copy"), temporary_.File(name), 77 + hour * kHourMs);
    ASSERT_TRUE(summary.ok()) << summary.status();
    const auto recovery = OpenStores(name).events->Recover();
    const v1::StoreRestored& restored = recovery->events.back().store_restored();
    // To allow for an hour of submissions, the restore skips at least 10,000 ids.
    EXPECT_GE(restored.skipped_job_ids(), skipped_ids + 10'000);
    EXPECT_GE(restored.skipped_attempts(), skipped_attempts + 1'000);
    skipped_ids = restored.skipped_job_ids();
    skipped_attempts = restored.skipped_attempts();
  }
}

TEST_F(BackupTest, AnInterruptedRestoreKeepsTheControllerOutUntilItIsDoneAgain) {
  FillAndBackUp(5);
  fs::create_directory(temporary_.File("new"));
  std::ofstream(temporary_.File("new/RESTORING")) << "";
  std::ofstream(temporary_.File("new/metrics.db")) << "half of it";
  const auto opened = OpenSqliteStores(temporary_.File("new"));
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("server restore"));
  ASSERT_TRUE(BringBack("copy", "new").ok());
  Stores stores = OpenStores("new");
  EXPECT_EQ(EventCount(stores), 6);
}

}  // namespace
}  // namespace trainyard::controller
