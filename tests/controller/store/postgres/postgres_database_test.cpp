// Tests the layer over libpq on a server. The error cases are those that an operator meets.
#include "controller/store/postgres/postgres_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/postgres_pool.h"
#include "controller/store/postgres/postgres_schema.h"
#include "tests/controller/store/postgres/fake_pooler.h"
#include "tests/controller/store/postgres/postgres_fixture.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

class PostgresDatabaseTest : public PostgresFixture {};

TEST_F(PostgresDatabaseTest, ReturnsTheBoundValues) {
  const auto database = Connect();
  const std::string bytes("\0\xff'\\", 4);
  const auto rows =
      database->Query("SELECT $1, $2, $3, $4, NULL::bigint", int64_t{-7}, 0.1, bytes, std::nan(""));
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 1);
  EXPECT_EQ(rows->Int64(0, 0), -7);
  EXPECT_EQ(rows->Double(0, 1), 0.1);
  EXPECT_EQ(rows->Bytes(0, 2), bytes);
  EXPECT_TRUE(std::isnan(rows->Double(0, 3)));
  EXPECT_EQ(rows->Int64(0, 4), 0);
}

TEST_F(PostgresDatabaseTest, ArraysAreRows) {
  const auto database = Connect();
  const std::vector<std::string_view> texts = {"", "b"};
  const auto rows = database->Query("SELECT * FROM unnest($1, $2) ORDER BY 1",
                                    std::vector<int64_t>{5, -5}, texts);
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 2);
  EXPECT_EQ(rows->Int64(0, 0), -5);
  EXPECT_EQ(rows->Bytes(0, 1), "b");
  EXPECT_EQ(database->Query("SELECT * FROM unnest($1)", std::vector<int64_t>())->size(), 0);
}

TEST_F(PostgresDatabaseTest, RollsBackWithoutCommit) {
  const auto database = Connect();
  ASSERT_TRUE(database->RunScript("CREATE TABLE t (a bigint PRIMARY KEY)").ok());
  {
    auto transaction = PostgresTransaction::BeginWrite(*database);
    ASSERT_TRUE(database->Run("INSERT INTO t VALUES (1)").ok());
    EXPECT_FALSE(database->Run("INSERT INTO t VALUES (1)").ok());
    EXPECT_FALSE(database->Run("INSERT INTO t VALUES (2)").ok()) << "the transaction has failed";
  }
  EXPECT_EQ(database->QueryInt64("SELECT COUNT(*) FROM t").value(), 0);
  auto transaction = PostgresTransaction::BeginWrite(*database);
  ASSERT_TRUE(database->Run("INSERT INTO t VALUES (3)").ok());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(Connect()->QueryInt64("SELECT a FROM t").value(), 3);
}

// A commit of a failed transaction is a rollback for the server, not an error.
TEST_F(PostgresDatabaseTest, ACommitOfAFailedTransactionIsAnError) {
  const auto database = Connect();
  auto transaction = PostgresTransaction::BeginWrite(*database);
  EXPECT_FALSE(database->Run("SELECT 1 / 0").ok());
  EXPECT_FALSE(transaction->Commit().ok());
}

TEST_F(PostgresDatabaseTest, ASlowStatementIsEnded) {
  const auto database = Connect({.statement_ms = 100});
  const absl::Status status = database->Run("SELECT pg_sleep(20)");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_TRUE(database->Run("SELECT 1").ok()) << "the session stays usable";
}

TEST_F(PostgresDatabaseTest, AnUnresponsiveServerEndsTheConnection) {
  const auto database = Connect({.answer_ms = 300});
  ASSERT_EQ(kill(static_cast<pid_t>(database->session()), SIGSTOP), 0);
  const absl::Status status = database->Run("SELECT 1");
  kill(static_cast<pid_t>(database->session()), SIGCONT);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no answer within 300 ms"));
  EXPECT_FALSE(database->IsAlive());
  EXPECT_EQ(database->Run("SELECT 1").code(), absl::StatusCode::kUnavailable);
}

TEST_F(PostgresDatabaseTest, ASeriesOfStatementsHasOneLimit) {
  const auto database = Connect();
  database->LimitAll(1'000);
  absl::Status status;
  int statements = 0;
  // Each statement alone is far below its own limit.
  for (; status.ok() && statements < 100; ++statements) {
    status = database->Run("SELECT pg_sleep(0.1)");
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("time limit of a series"));
  EXPECT_LT(statements, 100);
  EXPECT_FALSE(database->IsAlive());
}

TEST_F(PostgresDatabaseTest, ALimitOfASeriesCanBeRemoved) {
  const auto database = Connect();
  database->LimitAll(0);
  database->UnlimitAll();
  EXPECT_TRUE(database->Run("SELECT 1").ok());
}

TEST_F(PostgresDatabaseTest, AnIdleTransactionIsEnded) {
  const auto database = Connect({.idle_transaction_ms = 50});
  auto transaction = PostgresTransaction::BeginWrite(*database);
  const auto other = Connect();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (
      other->QueryInt64("SELECT COUNT(*) FROM pg_stat_activity WHERE pid = $1", database->session())
              .value() != 0 &&
      std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(transaction->Commit().code(), absl::StatusCode::kUnavailable);
}

TEST_F(PostgresDatabaseTest, WrongPasswordUserAndDatabaseAreReported) {
  ASSERT_TRUE(Connect()
                  ->RunScript("DROP ROLE IF EXISTS secret; CREATE ROLE secret LOGIN PASSWORD "
                              "'right'")
                  .ok());
  const std::string settings = server().SettingsFor("secret");
  EXPECT_TRUE(PostgresDatabase::Connect(settings + " password=right").ok());
  EXPECT_EQ(PostgresDatabase::Connect(settings + " password=wrong").status().code(),
            absl::StatusCode::kUnauthenticated);
  const absl::Status none = PostgresDatabase::Connect(settings).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(PostgresDatabase::Connect(server().SettingsFor("nobody_here")).status().code(),
            absl::StatusCode::kUnauthenticated);
  const absl::Status absent =
      PostgresDatabase::Connect(server().Settings() + " dbname=absent").status();
  EXPECT_EQ(absent.code(), absl::StatusCode::kNotFound) << absent;
  EXPECT_EQ(PostgresDatabase::Connect("host=/nowhere").status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(PostgresDatabase::Connect("no=setting").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(PostgresDatabaseTest, TheConnectionLimitIsReported) {
  ASSERT_TRUE(Connect()
                  ->RunScript("DROP ROLE IF EXISTS limited; CREATE ROLE limited LOGIN "
                              "CONNECTION LIMIT 1")
                  .ok());
  const auto first = PostgresDatabase::Connect(server().SettingsFor("limited"));
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status second = PostgresDatabase::Connect(server().SettingsFor("limited")).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kResourceExhausted) << second;
}

TEST_F(PostgresDatabaseTest, AsynchronousCommitIsRefused) {
  const absl::Status status =
      PostgresDatabase::Connect(server().Settings() + " options='-c synchronous_commit=off'")
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(PostgresDatabaseTest, APoolerIsRefused) {
  const FakePooler pooler(server().directory());
  const absl::Status status =
      PostgresDatabase::Connect(absl::StrCat(server().Settings(), " host=", pooler.directory()))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("pooler"));
}

TEST_F(PostgresDatabaseTest, ALostConnectionOfThePoolIsReplaced) {
  PostgresPool pool(settings());
  int64_t session = 0;
  {
    auto lease = pool.Acquire();
    ASSERT_TRUE(lease.ok()) << lease.status();
    session = (*lease)->session();
  }
  const auto other = Connect();
  ASSERT_TRUE(other->Run("SELECT pg_terminate_backend($1::int, 10000)", session).ok());
  auto lease = pool.Acquire();
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_TRUE((*lease)->Run("SELECT 1").ok());
}

TEST_F(PostgresDatabaseTest, StatementsOfAPipelineAnswerInOrder) {
  const auto database = Connect();
  ASSERT_TRUE(database->RunScript("CREATE TABLE many (a bigint PRIMARY KEY, b bytea)").ok());
  // More than one pipeline by number, and more than one by bytes.
  const std::string large(300'000, 'x');
  std::vector<SqlArguments> rows;
  for (int i = 0; i < 1'100; ++i) {
    rows.push_back(
        MakeSqlArguments(i, std::string_view(large).substr(0, i < 20 ? large.size() : 1)));
  }
  std::vector<int64_t> answers;
  const absl::Status status =
      database->RunForEach("INSERT INTO many VALUES ($1, $2) RETURNING a + length(b)", rows,
                           [&](std::size_t index, SqlRows& answer) -> absl::Status {
                             EXPECT_EQ(index, answers.size());
                             EXPECT_TRUE(*answer.Next());
                             answers.push_back(answer.Int64(0));
                             return absl::OkStatus();
                           });
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(answers.size(), rows.size());
  EXPECT_EQ(answers[19], 19 + 300'000);
  EXPECT_EQ(answers[1'099], 1'100);
}

TEST_F(PostgresDatabaseTest, AnErrorInAPipelineIsReportedAndTheSessionStaysUsable) {
  const auto database = Connect();
  ASSERT_TRUE(database->RunScript("CREATE TABLE few (a bigint PRIMARY KEY)").ok());
  int visits = 0;
  const std::vector<SqlArguments> rows = {MakeSqlArguments(1), MakeSqlArguments(2),
                                          MakeSqlArguments(1), MakeSqlArguments(3)};
  const auto insert = [&] {
    return database->RunForEach("INSERT INTO few VALUES ($1)", rows, [&](std::size_t, SqlRows&) {
      ++visits;
      return absl::OkStatus();
    });
  };
  {
    auto transaction = PostgresTransaction::BeginWrite(*database);
    ASSERT_TRUE(transaction.ok());
    EXPECT_THAT(std::string(insert().message()), HasSubstr("duplicate key"));
    EXPECT_EQ(visits, 2);
    EXPECT_FALSE(transaction->Commit().ok());
  }
  EXPECT_EQ(*database->QueryInt64("SELECT COUNT(*) FROM few"), 0);
}

TEST_F(PostgresDatabaseTest, NanIsNullInSharedStatements) {
  const auto database = Connect();
  SqlDatabase& shared = *database;
  auto rows = shared.Query("SELECT $1, $2", std::nan(""), 0.5);
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_TRUE(*(*rows)->Next());
  EXPECT_TRUE((*rows)->IsNull(0));
  EXPECT_TRUE(std::isnan((*rows)->Double(0)));
  EXPECT_EQ((*rows)->Double(1), 0.5);
  EXPECT_FALSE(*(*rows)->Next());
}

TEST_F(PostgresDatabaseTest, ThePoolHasALimit) {
  PostgresPool pool(settings());
  std::vector<PostgresPool::Lease> leases;
  for (int i = 0; i < PostgresPool::kLeasesMax; ++i) {
    auto lease = pool.Acquire();
    ASSERT_TRUE(lease.ok()) << lease.status();
    leases.push_back(*std::move(lease));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(pool.Acquire().status()));
  leases.pop_back();
  EXPECT_TRUE(pool.Acquire().ok());
}

TEST_F(PostgresDatabaseTest, MigrationsRunOnceAndTogetherWithTheirVersion) {
  const auto database = Connect();
  const std::vector<PostgresMigration> first = {{"CREATE TABLE one (a bigint)"}};
  ASSERT_TRUE(Migrate("store", first, *database).ok());
  ASSERT_TRUE(Migrate("store", first, *database).ok()) << "nothing is left to do";
  std::vector<PostgresMigration> second = first;
  second.push_back({"CREATE TABLE two (a bigint); SELECT 1 / 0"});
  EXPECT_FALSE(Migrate("store", second, *database).ok());
  EXPECT_FALSE(database->Run("SELECT * FROM two").ok()) << "it was rolled back";
  second.back().sql = "CREATE TABLE two (a bigint)";
  EXPECT_TRUE(Migrate("store", second, *database).ok());
  const absl::Status older = Migrate("store", first, *database);
  EXPECT_EQ(older.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(older.message()), HasSubstr("newer release"));
}

TEST_F(PostgresDatabaseTest, ControllersThatStartTogetherCreateTheSchemaOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const absl::Status status = MigrateEvents(*Connect());
      EXPECT_TRUE(status.ok()) << status;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Connect()->QueryInt64("SELECT COUNT(*) FROM leader").value(), 1);
}

TEST_F(PostgresDatabaseTest, AMissingSchemaAndAReplicaAreReported) {
  const auto absent =
      PostgresDatabase::Connect(server().Settings() + " options='-c search_path=absent_schema'");
  EXPECT_EQ(MigrateEvents(**absent).code(), absl::StatusCode::kNotFound);
  const auto replica = PostgresDatabase::Connect(server().Settings() +
                                                 " options='-c default_transaction_read_only=on'");
  const absl::Status status = MigrateEvents(**replica);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
}

}  // namespace
}  // namespace trainyard::controller
