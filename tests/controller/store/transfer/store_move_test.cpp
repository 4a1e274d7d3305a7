// Tests that a move keeps every record, in both directions, and that only one side stays open.
#include "controller/store/store_move.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/files/moved_mark.h"
#include "controller/store/files/store_identity.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "controller/store/stores.h"
#include "proto/support/durable_file.h"
#include "tests/controller/store/postgres/postgres_fixture.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kClusterId[] = "00112233445566778899aabbccddeeff";
constexpr int kMovedEvents = 700;

class StoreMoveTest : public PostgresFixture {
 protected:
  std::string Files() const { return temporary_.path() + "/files"; }
  std::string Other() const { return temporary_.path() + "/other"; }

  // Creates files with rows in every table.
  void FillFiles() const {
    auto stores = OpenSqliteStores(Files());
    ASSERT_TRUE(stores.ok()) << stores.status();
    ASSERT_TRUE(WriteFileAtomically(Files() + "/cluster_id", std::string(kClusterId) + "\n").ok());
    ASSERT_TRUE(BindStores(Files(), kClusterId).ok());
    FillEvents(*stores->events);
    FillMetrics(*stores->metrics);
    FillLogs(*stores->logs);
  }

  static void FillEvents(EventLog& log) {
    std::vector<v1::Event> events(kMovedEvents);
    for (int i = 0; i < kMovedEvents; ++i) {
      events[i].set_time_ms(1000 + i);
      events[i].set_actor(absl::StrCat("actor ", i));
      events[i].mutable_node_removed()->set_node_id(absl::StrCat("n", i));
    }
    events[5].mutable_job_deleted()->set_job_id(77);
    std::vector<v1::ArchivedJob> archived(130);
    for (int i = 0; i < 130; ++i) {
      archived[i].mutable_job()->set_id(i + 1);
      archived[i].mutable_job()->set_name(absl::StrCat("job-", i));
      archived[i].mutable_job()->set_user(i % 2 == 0 ? "ann" : "bob");
      archived[i].mutable_job()->set_state(v1::JOB_STATE_SUCCEEDED);
    }
    log.NoteStore("metrics", {.store_id = 4, .writes = 9});
    ASSERT_TRUE(log.Append(events, archived).ok());
    v1::Snapshot snapshot;
    snapshot.set_last_sequence(600);
    ASSERT_TRUE(log.WriteSnapshot(snapshot).ok());
  }

  static void FillMetrics(MetricStore& metrics) {
    MetricBatch batch{.stream = {1, 1, 0, v1::STREAM_KIND_TELEMETRY},
                      .begin_offset = 0,
                      .end_offset = 100,
                      .points = {},
                      .experts = {},
                      .reports = {}};
    // More points than a tail may have, so that some are in chunks.
    for (int step = 0; step < 20'000; ++step) {
      const double value = step == 7 ? std::nan("") : step == 9 ? HUGE_VAL : 1.0 / (step + 1);
      batch.points.push_back({"loss", step, 10 * step, value});
    }
    ASSERT_TRUE(metrics.Append({batch}).ok());
    batch.begin_offset = 100;
    batch.end_offset = 200;
    batch.points = {{"lr", 5, 5, -0.0}};
    batch.experts.push_back({.attempt = 1, .time_ms = 5, .record = {}});
    ASSERT_TRUE(metrics.Append({batch}).ok());
    ASSERT_TRUE(metrics
                    .Append({{.stream = {2, 1, 0, v1::STREAM_KIND_TELEMETRY},
                              .begin_offset = 0,
                              .end_offset = 10,
                              .points = {{"loss", 1, 1, 1}},
                              .experts = {},
                              .reports = {}}})
                    .ok());
    ASSERT_TRUE(metrics.DropJob(2).ok()) << "rows of dropped jobs have negative ids";
  }

  static void FillLogs(LogStore& logs) {
    std::string text;
    for (int i = 0; i < 40'000; ++i) absl::StrAppend(&text, "line ", i, "\n");
    const StreamKey stream{1, 1, 0, v1::STREAM_KIND_LOG};
    ASSERT_TRUE(logs.Append({{stream, 0, 5, text}}).ok());
    ASSERT_TRUE(
        logs.Append({{stream, static_cast<int64_t>(text.size()), 6, "the last line\n"}}).ok());
  }

  absl::StatusOr<Stores> OpenPostgres(const std::string& directory) const {
    return OpenPostgresStores({.settings = settings(),
                               .data_directory = directory,
                               .new_cluster_id = std::string(32, 'f'),
                               .holder = "test",
                               .wait_limit = std::chrono::milliseconds(0),
                               .on_lost = [](const absl::Status&) {}});
  }

  // The stores as their readers see them.
  static std::string Contents(Stores& stores) {
    std::string text = stores.events->Recover()->snapshot->ShortDebugString();
    const auto events = stores.events->ReadEventsAfter(0, 10'000);
    for (const auto& event : *events) absl::StrAppend(&text, event.ShortDebugString(), "\n");
    const auto page = stores.events->archive().List({}, std::nullopt, 1000);
    for (const auto& job : page->jobs) {
      absl::StrAppend(&text, job.ShortDebugString(), "\n");
    }
    for (const int buckets : {0, 100}) {
      const auto series =
          stores.metrics->Read({.job_id = 1, .keys = {"loss", "lr"}, .buckets = buckets});
      for (const auto& one : *series) absl::StrAppend(&text, one.ShortDebugString(), "\n");
    }
    absl::StrAppend(&text, stores.metrics->ReadExperts(1)->size(), " records\n");
    absl::StrAppend(&text, stores.metrics->Position().store_id, "\n");
    LogCursor cursor;
    const absl::Status read =
        stores.logs->Read({.job_id = 1}, true, cursor, [&](const std::vector<v1::LogLine>& lines) {
          for (const auto& line : lines) {
            absl::StrAppend(&text, line.text(), "\n");
          }
          return true;
        });
    EXPECT_TRUE(read.ok()) << read;
    return text;
  }

  // New rows get new ids.
  static void AppendMore(Stores& stores) {
    const absl::Status points =
        stores.metrics->Append({{.stream = {3, 1, 0, v1::STREAM_KIND_TELEMETRY},
                                 .begin_offset = 0,
                                 .end_offset = 10,
                                 .points = {{"new", 1, 1, 1}},
                                 .experts = {},
                                 .reports = {}}});
    EXPECT_TRUE(points.ok()) << points;
    const absl::Status lines =
        stores.logs->Append({{{3, 1, 0, v1::STREAM_KIND_LOG}, 0, 5, "first\n"}});
    EXPECT_TRUE(lines.ok()) << lines;
    v1::Event event;
    event.mutable_node_removed()->set_node_id("new");
    EXPECT_TRUE(stores.events->Append({event}).ok());
  }

  StorePlaces Places(const std::string& directory) const {
    return {.data_directory = directory, .postgres = settings()};
  }

  TemporaryDirectory temporary_;
};

TEST_F(StoreMoveTest, KeepsEveryRecordInBothDirections) {
  FillFiles();
  std::string before;
  {
    auto stores = OpenSqliteStores(Files());
    before = Contents(*stores);
  }
  EXPECT_GT(before.size(), std::size_t{500'000});
  const auto moved = MoveToPostgres(Places(Files()));
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(moved->front().name, "event");
  EXPECT_EQ(moved->front().rows, kMovedEvents);
  for (const MovedTable& table : *moved) {
    const bool may_be_empty = table.name == "report_part" || table.name == "job_data_set";
    EXPECT_TRUE(table.rows > 0 || may_be_empty) << table.name;
  }
  {
    auto stores = OpenPostgres(Files());
    ASSERT_TRUE(stores.ok()) << stores.status();
    EXPECT_EQ(stores->cluster_id, kClusterId);
    EXPECT_TRUE(Contents(*stores) == before);
  }
  EXPECT_THAT(std::string(OpenSqliteStores(Files()).status().message()), HasSubstr("were moved"));
  const auto back = MoveToFiles(Places(Other()));
  ASSERT_TRUE(back.ok()) << back.status();
  for (std::size_t i = 0; i < moved->size(); ++i) {
    if ((*moved)[i].name == "term") continue;  // The start in PostgreSQL began no term.
    EXPECT_EQ((*back)[i].hash, (*moved)[i].hash) << (*moved)[i].name;
  }
  EXPECT_THAT(std::string(OpenPostgres(Files()).status().message()), HasSubstr("were moved"));
  auto stores = OpenSqliteStores(Other());
  ASSERT_TRUE(stores.ok()) << stores.status();
  EXPECT_TRUE(Contents(*stores) == before);
  EXPECT_EQ(*ReadStoreIdentity(Other() + "/events.db"), kClusterId);
  AppendMore(*stores);
}

TEST_F(StoreMoveTest, NewRowsFollowTheMovedOnes) {
  FillFiles();
  ASSERT_TRUE(MoveToPostgres(Places(Files())).ok());
  {
    auto stores = OpenPostgres(Files());
    ASSERT_TRUE(stores.ok()) << stores.status();
    AppendMore(*stores);
    EXPECT_TRUE(*stores->metrics->Reclaim()) << "the dropped job's rows were moved";
  }
  // The jobs return to the directory that they came from, and once more to the same schema.
  ASSERT_TRUE(MoveToFiles(Places(Files())).ok());
  {
    auto stores = OpenSqliteStores(Files());
    ASSERT_TRUE(stores.ok()) << stores.status();
    EXPECT_THAT(*stores->metrics->Keys(3), ElementsAre("new"));
    AppendMore(*stores);
  }
  const auto again = MoveToPostgres(Places(Files()));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->front().rows, kMovedEvents + 2);
}

TEST_F(StoreMoveTest, PositionsOfHooksMoveAlongAndSessionsDoNot) {
  FillFiles();
  ASSERT_TRUE(MoveToPostgres(Places(Files())).ok());
  {
    auto stores = OpenPostgres(Files());
    ASSERT_TRUE(stores.ok()) << stores.status();
    for (const std::string name : {"hook a", "hook b-2", "hook ../c", kSessionsNote}) {
      ASSERT_TRUE(stores->notes->Write(name, "text of " + name).ok());
    }
  }
  ASSERT_TRUE(MoveToFiles(Places(Other())).ok());
  const std::string folder = Other() + "/hooks/";
  EXPECT_EQ(ReadSmallFile(folder + "a").value_or(""), "text of hook a");
  EXPECT_EQ(ReadSmallFile(folder + "b-2").value_or(""), "text of hook b-2");
  EXPECT_FALSE(std::filesystem::exists(Other() + "/c")) << "no hook has this name";
  ASSERT_TRUE(MoveToPostgres(Places(Other())).ok());
  auto stores = OpenPostgres(Other());
  ASSERT_TRUE(stores.ok()) << stores.status();
  EXPECT_EQ(stores->notes->Read("hook a").value_or(""), "text of hook a");
  EXPECT_TRUE(absl::IsNotFound(stores->notes->Read(kSessionsNote).status()));
}

TEST_F(StoreMoveTest, NothingIsOverwritten) {
  FillFiles();
  ASSERT_TRUE(OpenPostgres(Other()).ok());
  absl::Status status = MoveToPostgres(Places(Files())).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("already has the jobs of cluster"));
  status = MoveToFiles(Places(Files())).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("already exists"));
  EXPECT_TRUE(OpenSqliteStores(Files()).ok());
  EXPECT_TRUE(OpenPostgres(Other()).ok());
}

TEST_F(StoreMoveTest, AControllerThatRunsPreventsTheMove) {
  FillFiles();
  {
    const auto running = OpenSqliteStores(Files());
    ASSERT_TRUE(running.ok()) << running.status();
    EXPECT_EQ(MoveToPostgres(Places(Files())).status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
  const auto running = OpenPostgres(Other());
  ASSERT_TRUE(running.ok()) << running.status();
  const absl::Status status = MoveToFiles(Places(temporary_.path() + "/third")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the controller test leads"));
}

TEST_F(StoreMoveTest, AnInterruptedMoveIsRepeatedAndUntilThenNotOpened) {
  FillFiles();
  ASSERT_TRUE(MoveToPostgres(Places(Files())).ok());
  // As if the process had ended before its last step.
  ASSERT_TRUE(Connect()->RunScript("DELETE FROM cluster").ok());
  const absl::Status status = OpenPostgres(Files()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("interrupted"));
  const auto again = MoveToPostgres(Places(Files()));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->front().rows, kMovedEvents);
  EXPECT_TRUE(OpenPostgres(Files()).ok());
}

TEST_F(StoreMoveTest, ABackupOfARunningControllerIsRestoredToEitherKind) {
  FillFiles();
  ASSERT_TRUE(MoveToPostgres(Places(Files())).ok());
  const std::string copy = temporary_.path() + "/backup";
  {
    auto running = OpenPostgres(Files());
    ASSERT_TRUE(running.ok()) << running.status();
    const auto backup = BackUpPostgres(settings(), copy);
    ASSERT_TRUE(backup.ok()) << backup.status();
    EXPECT_EQ(backup->last_sequence, uint64_t{kMovedEvents});
    AppendMore(*running);
  }
  EXPECT_TRUE(absl::IsAlreadyExists(BackUpPostgres(settings(), copy).status()));
  EXPECT_EQ(RestoreToPostgres(copy, Places(Other()), 5'000).status().code(),
            absl::StatusCode::kFailedPrecondition)
      << "the schema has jobs";
  ResetSchema();
  EXPECT_TRUE(absl::IsNotFound(BackUpPostgres(settings(), copy + "2").status()));
  const auto restored = RestoreToPostgres(copy, Places(Other()), 5'000);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->last_sequence, uint64_t{kMovedEvents + 1}) << "with the event StoreRestored";
  auto postgres = OpenPostgres(Other());
  ASSERT_TRUE(postgres.ok()) << postgres.status();
  EXPECT_EQ(postgres->cluster_id, kClusterId);
  EXPECT_TRUE(postgres->events->StoreMarks()->empty());
  EXPECT_TRUE(postgres->events->ReadEventsBefore(0, 0, 1)->front().event().has_store_restored());
  EXPECT_THAT(*postgres->metrics->Keys(1), ElementsAre("loss", "lr"));
  ASSERT_TRUE(Restore(copy, temporary_.path() + "/third", 5'000).ok());
  auto files = OpenSqliteStores(temporary_.path() + "/third");
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_TRUE(Contents(*files) == Contents(*postgres));
}

TEST_F(StoreMoveTest, DamageOfTheSourceEndsTheMove) {
  FillFiles();
  {
    auto database = SqliteDatabase::Open(Files() + "/events.db", SqliteDatabase::Mode::kWriter);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(
        (*database)->RunScript("UPDATE archived_record SET block = X'00' WHERE newest = -9").ok());
  }
  const absl::Status status = MoveToPostgres(Places(Files())).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("archived job 9 is damaged"));
  EXPECT_EQ(*ReadMovedMark(Files()), "");
}

}  // namespace
}  // namespace trainyard::controller
