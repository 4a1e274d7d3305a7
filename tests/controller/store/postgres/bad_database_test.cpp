// Databases that a controller must refuse or wait for: one clear line with the next step, and no
// change of the leader's row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/leader_table.h"
#include "controller/store/postgres/leadership.h"
#include "controller/store/stores.h"
#include "tests/controller/store/postgres/fake_pooler.h"
#include "tests/controller/store/postgres/postgres_fixture.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;
using testing::Not;

class PostgresBadDatabaseTest : public PostgresFixture {
 protected:
  static constexpr char kNewId[] = "0123456789abcdef0123456789abcdef";

  void SetUp() override {
    PostgresFixture::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const auto seat = Open(settings());
    ASSERT_TRUE(seat.ok()) << seat.status();
    const auto rows = Connect()->Query("SELECT current_schema()::text");
    ASSERT_TRUE(rows.ok()) << rows.status();
    schema_ = rows->Bytes(0, 0);
  }

  absl::StatusOr<std::unique_ptr<LeaderSeat>> Open(const std::string& settings,
                                                   const std::string& directory = "data") const {
    return OpenLeaderSeat({.settings = settings,
                           .data_directory = temporary_.path() + "/" + directory,
                           .new_cluster_id = kNewId,
                           .holder = "10.0.0.1:7070"});
  }

  // Expects that a candidate gets this error, in one line with the next step, and does not lead.
  void ExpectRefused(const std::string& settings, absl::StatusCode code,
                     const std::string& next_step, const std::string& directory = "data") const {
    const absl::Status status = Open(settings, directory).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(next_step));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
    EXPECT_EQ(Connect()->QueryInt64("SELECT term FROM leader").value(), 0);
  }

  // Returns the settings of a new user who may do everything in the schema.
  std::string SettingsOfUser(const std::string& name, const std::string& attributes) const {
    const auto database = Connect();
    EXPECT_TRUE(database
                    ->RunScript(absl::StrCat("DO $$ BEGIN CREATE ROLE ", name,
                                             "; EXCEPTION WHEN duplicate_object THEN END $$; ALTER "
                                             "ROLE ",
                                             name, " SUPERUSER LOGIN ", attributes))
                    .ok());
    return absl::StrCat(settings(), " user=", name);
  }

  const std::string& schema() const { return schema_; }

 private:
  TemporaryDirectory temporary_;
  std::string schema_;
};

TEST_F(PostgresBadDatabaseTest, APoolerInTransactionModeIsRefused) {
  const FakePooler pooler(server().directory());
  ExpectRefused(absl::StrCat(settings(), " host=", pooler.directory()),
                absl::StatusCode::kFailedPrecondition, "connect to the server directly");
}

TEST_F(PostgresBadDatabaseTest, AReadOnlyServerIsRefused) {
  ExpectRefused(absl::StrCat(settings(), " options='-c search_path=", schema(),
                             " -c default_transaction_read_only=on'"),
                absl::StatusCode::kPermissionDenied, "connect to the primary");
}

TEST_F(PostgresBadDatabaseTest, AsynchronousCommitsAreRefused) {
  ExpectRefused(absl::StrCat(settings(), " options='-c search_path=", schema(),
                             " -c synchronous_commit=off'"),
                absl::StatusCode::kFailedPrecondition, "set synchronous_commit = on");
}

TEST_F(PostgresBadDatabaseTest, AnExpiredPasswordEndsNoSession) {
  const std::string settings =
      SettingsOfUser("secret", "PASSWORD 'right' VALID UNTIL 'infinity'") + " password=right";
  const auto session = PostgresDatabase::Connect(settings);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE(Connect()->RunScript("ALTER ROLE secret VALID UNTIL '2000-01-01'").ok());
  ExpectRefused(settings, absl::StatusCode::kUnauthenticated, "check user and password");
  EXPECT_TRUE((*session)->Run("SELECT 1").ok());
  ASSERT_TRUE(Connect()->RunScript("ALTER ROLE secret VALID UNTIL 'infinity'").ok());
  EXPECT_TRUE(Open(settings).ok());
}

// RESOURCE_EXHAUSTED lets a standby wait (election.cpp).
TEST_F(PostgresBadDatabaseTest, AnExhaustedDatabaseIsReported) {
  ASSERT_TRUE(Connect()
                  ->RunScript("DO $$ BEGIN CREATE ROLE crowded; EXCEPTION WHEN duplicate_object "
                              "THEN END $$; ALTER ROLE crowded LOGIN CONNECTION LIMIT 0")
                  .ok());
  ExpectRefused(settings() + " user=crowded", absl::StatusCode::kResourceExhausted,
                "raise max_connections");
}

TEST_F(PostgresBadDatabaseTest, AnOlderReleaseIsRefused) {
  ASSERT_TRUE(
      Connect()->RunScript("UPDATE schema_version SET version = 99 WHERE store = 'events'").ok());
  ExpectRefused(settings(), absl::StatusCode::kFailedPrecondition,
                "Start the release that wrote the tables or a newer release");
}

TEST_F(PostgresBadDatabaseTest, ASecondClusterIsRefused) {
  const TemporaryDirectory other;
  const std::string path = other.path() + "/data";
  std::filesystem::create_directory(path);
  std::ofstream(path + "/cluster_id") << std::string(32, 'b') << "\n";
  const absl::Status status = OpenLeaderSeat({.settings = settings(),
                                              .data_directory = path,
                                              .new_cluster_id = std::string(32, 'c'),
                                              .holder = "10.0.0.2:7070"})
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Two clusters need two schemas"));
  EXPECT_EQ(Connect()->QueryInt64("SELECT term FROM leader").value(), 0);
}

// Each leader ends right after its first write. Each term writes once, and no term of a former
// leader writes again.
TEST_F(PostgresBadDatabaseTest, ALeadershipThatChangesAgainAndAgainLosesNothing) {
  constexpr int kTerms = 30;
  ASSERT_TRUE(Connect()->RunScript("CREATE TABLE written (term bigint)").ok());
  const auto writer = Connect();
  for (int round = 1; round <= kTerms; ++round) {
    const auto leader = Leadership::Open(settings(), absl::StrCat("c", round % 2), "0.1.0");
    ASSERT_TRUE(leader.ok()) << leader.status();
    // The session of the leader before may still be ending.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while ((*leader)->term() == 0 && std::chrono::steady_clock::now() < deadline) {
      ASSERT_TRUE((*leader)->Step().ok());
    }
    ASSERT_EQ((*leader)->term(), round);
    EXPECT_TRUE(absl::IsAborted(BeginLeaderWrite(round - 1, *writer).status()));
    auto transaction = BeginLeaderWrite(round, *writer);
    ASSERT_TRUE(transaction.ok()) << transaction.status();
    ASSERT_TRUE(writer->Run("INSERT INTO written VALUES ($1)", round).ok());
    ASSERT_TRUE(transaction->Commit().ok());
  }
  EXPECT_EQ(writer->QueryInt64("SELECT COUNT(DISTINCT term) FROM written").value(), kTerms);
  EXPECT_EQ(writer->QueryInt64("SELECT COUNT(*) FROM written").value(), kTerms);
}

}  // namespace
}  // namespace trainyard::controller
