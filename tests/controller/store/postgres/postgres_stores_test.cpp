// Tests how the stores of a controller are opened in PostgreSQL, and that all of them are fenced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "controller/store/stores.h"
#include "tests/controller/store/postgres/postgres_fixture.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class PostgresStoresTest : public PostgresFixture {
 protected:
  static constexpr char kNewId[] = "0123456789abcdef0123456789abcdef";

  PostgresStoreOptions Options(const std::string& directory) {
    return {.settings = settings(),
            .data_directory = temporary_.path() + "/" + directory,
            .new_cluster_id = kNewId,
            .holder = directory,
            .wait_limit = milliseconds(0),
            .on_wait = [this](const std::string& reason) { waits_.push_back(reason); },
            .on_lost =
                [this](const absl::Status& cause) {
                  const std::lock_guard lock(mutex_);
                  lost_ = cause;
                }};
  }

  absl::Status Lost() {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

  static MetricBatch OneStep(int64_t begin) {
    return {.stream = {1, 1, 0, v1::STREAM_KIND_TELEMETRY},
            .begin_offset = begin,
            .end_offset = begin + 10,
            .points = {{"loss", begin + 1, 5, 0.5}},
            .experts = {},
            .reports = {}};
  }
  static LogBatch OneLine(int64_t begin) {
    return {.stream = {1, 1, 0, v1::STREAM_KIND_LOG},
            .begin_offset = begin,
            .time_ms = 5,
            .data = "line\n"};
  }

  TemporaryDirectory temporary_;
  std::vector<std::string> waits_;
  std::mutex mutex_;
  absl::Status lost_;  // Guarded by mutex_.
};

TEST_F(PostgresStoresTest, AllStoresAreInOneSchemaAndKeepTheirData) {
  for (const int round : {0, 1}) {
    const auto stores = OpenPostgresStores(Options("data"));
    ASSERT_TRUE(stores.ok()) << stores.status();
    EXPECT_EQ(stores->cluster_id, kNewId);
    EXPECT_THAT(stores->database, HasSubstr("PostgreSQL database postgres on "));
    EXPECT_NE(stores->code_store, nullptr);
    const int64_t begin = 10 * round;
    EXPECT_EQ(*stores->metrics->StoredOffset(OneStep(0).stream), begin);
    EXPECT_TRUE(stores->metrics->Append({OneStep(begin)}).ok());
    EXPECT_TRUE(stores->logs->Append({OneLine(5 * round)}).ok());
  }
  EXPECT_TRUE(waits_.empty());
  EXPECT_FALSE(std::filesystem::exists(temporary_.path() + "/data/events.db"));
}

TEST_F(PostgresStoresTest, ASchemaBelongsToOneCluster) {
  ASSERT_TRUE(OpenPostgresStores(Options("data")).ok());
  std::filesystem::create_directory(temporary_.path() + "/other");
  std::ofstream(temporary_.path() + "/other/cluster_id") << std::string(32, 'b') << "\n";
  const absl::Status status = OpenPostgresStores(Options("other")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Two clusters need two schemas"));
}

TEST_F(PostgresStoresTest, AnEmptySchemaIsNotTakenForThatOfAKnownCluster) {
  ASSERT_TRUE(OpenPostgresStores(Options("data")).ok());
  ResetSchema();
  const absl::Status status = OpenPostgresStores(Options("data")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the schema is empty"));
}

TEST_F(PostgresStoresTest, ADataDirectoryWithDatabasesIsRefused) {
  std::filesystem::create_directory(temporary_.path() + "/data");
  std::ofstream(temporary_.path() + "/data/events.db") << "x";
  const absl::Status status = OpenPostgresStores(Options("data")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("has its jobs in SQLite"));
}

TEST_F(PostgresStoresTest, ASecondControllerWaitsAndNamesTheLeader) {
  const auto first = OpenPostgresStores(Options("first"));
  ASSERT_TRUE(first.ok()) << first.status();
  PostgresStoreOptions options = Options("second");
  options.wait_limit = milliseconds(300);
  const absl::Status status = OpenPostgresStores(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the controller first leads"));
  ASSERT_EQ(waits_.size(), 1U);
  EXPECT_THAT(waits_[0], HasSubstr("waiting up to"));
}

TEST_F(PostgresStoresTest, NoStoreAcceptsWritesOfAnEarlierTerm) {
  const auto stores = OpenPostgresStores(Options("data"));
  ASSERT_TRUE(stores.ok()) << stores.status();
  ASSERT_TRUE(BeginNextTerm(*Connect()).ok());
  EXPECT_TRUE(absl::IsAborted(stores->metrics->Append({OneStep(0)})));
  EXPECT_TRUE(absl::IsAborted(stores->metrics->DropJob(1)));
  EXPECT_TRUE(absl::IsAborted(stores->metrics->Reclaim().status()));
  EXPECT_TRUE(absl::IsAborted(stores->logs->Append({OneLine(0)})));
  EXPECT_TRUE(absl::IsAborted(stores->logs->DropJob(1)));
  EXPECT_EQ(*stores->logs->StoredOffset(OneLine(0).stream), 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (Lost().ok() && std::chrono::steady_clock::now() < deadline) usleep(10'000);
  EXPECT_TRUE(absl::IsAborted(Lost())) << Lost();
}

TEST_F(PostgresStoresTest, WaitsForAServerThatStartsLate) {
  server().Stop(SIGINT);
  PostgresStoreOptions options = Options("data");
  options.wait_limit = std::chrono::seconds(1);
  absl::Status status = OpenPostgresStores(options).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("(waited 1 s for the database)"));
  waits_.clear();
  options.wait_limit = std::chrono::seconds(30);
  options.on_wait = [this](const std::string& reason) {
    waits_.push_back(reason);
    // The wait ends because the server runs again.
    ASSERT_TRUE(server().StartProcess().ok());
  };
  status = OpenPostgresStores(options).status();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(waits_.size(), 1U);
}

TEST_F(PostgresStoresTest, TelemetryIsStoredAgainAfterACrashOfTheServer) {
  ASSERT_TRUE(OpenPostgresStores(Options("data")).ok());
  const int64_t term = *BeginNextTerm(*Connect());
  PostgresStoreOptions options = Options("data");
  options.leader_term = term;
  const auto stores = OpenPostgresStores(options);
  ASSERT_TRUE(stores.ok()) << stores.status();
  ASSERT_TRUE(stores->metrics->Append({OneStep(0)}).ok());
  ASSERT_TRUE(stores->logs->Append({OneLine(0)}).ok());
  ASSERT_TRUE(server().CrashAndRestart().ok());
  EXPECT_EQ(*stores->metrics->StoredOffset(OneStep(0).stream), 10);
  EXPECT_TRUE(stores->metrics->Append({OneStep(10)}).ok());
  EXPECT_TRUE(stores->logs->Append({OneLine(5)}).ok());
  EXPECT_EQ(*stores->logs->StoredOffset(OneLine(0).stream), 10);
}

}  // namespace
}  // namespace trainyard::controller
