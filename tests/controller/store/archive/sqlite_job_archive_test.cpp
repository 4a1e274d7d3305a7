// Tests damage and rows of older releases, which need the tables of the SQLite archive.
#include "controller/store/archive/sqlite_job_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "controller/store/events/sqlite_event_log.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "tests/controller/store/archive/ended_jobs.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SqliteJobArchiveTest : public testing::Test {
 protected:
  SqliteJobArchiveTest() { Reopen(); }

  void Reopen() {
    log_.reset();
    auto opened = SqliteEventLog::Open(temporary_.File("events.db"));
    ASSERT_TRUE(opened.ok()) << opened.status();
    log_ = *std::move(opened);
  }

  void Add(const v1::ArchivedJob& job) {
    ASSERT_TRUE(log_->Append({ArchivedEvent(job.job().id())}, {job}).ok());
  }

  JobArchive& archive() { return log_->archive(); }

  TemporaryDirectory temporary_;
  std::unique_ptr<SqliteEventLog> log_;
};

// Older releases stored no row for a job's time, so the time must be computed.
TEST_F(SqliteJobArchiveTest, TheTimeOfAnOlderRecordIsComputed) {
  for (const int64_t id : {1, 2, 3}) Add(Archived(id, "job", v1::JOB_STATE_FAILED));
  auto database = SqliteDatabase::Open(temporary_.File("events.db"), SqliteDatabase::Mode::kWriter);
  ASSERT_TRUE((*database)->RunScript("DELETE FROM archived_time WHERE newest = -2").ok());
  EXPECT_THAT(JobsWithTimeSince(archive(), 0), ElementsAre(3, 2, 1));
}

TEST_F(SqliteJobArchiveTest, ADamagedTimeIsReported) {
  for (const int64_t id : {1, 2}) Add(Archived(id, "job", v1::JOB_STATE_FAILED));
  auto database = SqliteDatabase::Open(temporary_.File("events.db"), SqliteDatabase::Mode::kWriter);
  ASSERT_TRUE((*database)
                  ->RunScript("UPDATE archived_time SET block = (SELECT block FROM "
                              "archived_time WHERE newest = -2) WHERE newest = -1")
                  .ok());
  const absl::Status status = archive().ForEachTime(0, [](const v1::JobTime&) {});
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("job 1 "));
}

TEST_F(SqliteJobArchiveTest, ADamagedRecordIsReported) {
  Add(Archived(1, "one", v1::JOB_STATE_FAILED));
  Add(Archived(2, "two", v1::JOB_STATE_FAILED));
  auto database = SqliteDatabase::Open(temporary_.File("events.db"), SqliteDatabase::Mode::kWriter);
  ASSERT_TRUE((*database)
                  ->RunScript("UPDATE archived_record SET block = (SELECT block FROM "
                              "archived_record WHERE newest = -2) WHERE newest = -1")
                  .ok());
  const auto found = archive().Find(1);
  EXPECT_TRUE(absl::IsDataLoss(found.status()));
  EXPECT_THAT(std::string(found.status().message()), HasSubstr("job 1 "));
  EXPECT_TRUE(archive().Find(2).ok());
}

TEST_F(SqliteJobArchiveTest, SortsJobsThatAnOlderReleaseArchived) {
  for (int64_t id = 1; id <= 3; ++id) {
    v1::ArchivedJob archived = Archived(id, "a", v1::JOB_STATE_FAILED);
    archived.mutable_job()->set_restarts(static_cast<int>(id) % 3);
    Add(archived);
  }
  log_.reset();
  {
    auto database =
        SqliteDatabase::Open(temporary_.File("events.db"), SqliteDatabase::Mode::kWriter);
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE((*database)
                    ->RunScript("UPDATE archived_job SET loss_key = NULL, best_loss_key = NULL, "
                                "rate_key = NULL, slots_key = NULL, restarts_key = NULL")
                    .ok());
  }
  Reopen();
  v1::ListJobsRequest request;
  request.set_order(v1::JOB_ORDER_RESTARTS);
  EXPECT_THAT(IdsOf(*archive().List(request, std::nullopt, 10)), ElementsAre(2, 1, 3));
}

}  // namespace
}  // namespace trainyard::controller
