#include "controller/store/sqlite/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "controller/store/stores.h"
#include "tests/controller/store/child_process.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

// Migration steps. If any part of a step ran twice, the step would fail or duplicate rows.
const std::vector<Migration> kSteps = {
    Migration{"CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2);"},
    Migration{"ALTER TABLE t ADD COLUMN b INT; UPDATE t SET b = a * 10;"},
    Migration{"CREATE TABLE u (c INT); INSERT INTO u SELECT a + b FROM t; DROP TABLE t;"},
};

std::unique_ptr<SqliteDatabase> OpenWriter(const std::string& path) {
  auto database = SqliteDatabase::Open(path, SqliteDatabase::Mode::kWriter);
  EXPECT_TRUE(database.ok()) << database.status();
  return database.ok() ? *std::move(database) : nullptr;
}

void ExpectNewestSchema(SqliteDatabase& database) {
  EXPECT_EQ(*database.QueryInt64("PRAGMA user_version"), 3);
  EXPECT_EQ(*database.QueryInt64("SELECT COUNT(*) FROM u"), 2);
  EXPECT_EQ(*database.QueryInt64("SELECT SUM(c) FROM u"), 33);
  EXPECT_EQ(*database.QueryInt64("SELECT COUNT(*) FROM sqlite_schema WHERE name = 't'"), 0);
}

// Kills the process just before it runs statement `number`, counted from 1.
void KillAtStatement(SqliteDatabase& database, int number) {
  static int left;
  left = number;
  const auto at_statement = [](unsigned, void*, void*, void*) {
    if (--left == 0) raise(SIGKILL);
    return 0;
  };
  sqlite3_trace_v2(database.handle(), SQLITE_TRACE_STMT, at_statement, nullptr);
}

// Runs the migration in a child process that is killed at `statement`. Returns false if the child
// finished before that statement.
bool MigrateAndDieAt(const std::string& path, int statement) {
  ChildProcess child([&](int) {
    auto database = SqliteDatabase::Open(path, SqliteDatabase::Mode::kWriter);
    if (!database.ok()) _exit(2);
    KillAtStatement(**database, statement);
    if (!Migrate(**database, kSteps).ok()) _exit(3);
  });
  const int status = child.Wait();
  if (WIFSIGNALED(status)) return true;
  EXPECT_EQ(WEXITSTATUS(status), 0) << "at statement " << statement;
  return false;
}

TEST(MigrationsTest, RunsEveryStepOnce) {
  TemporaryDirectory temporary;
  auto database = OpenWriter(temporary.File("m.db"));
  for (int round = 0; round < 2; ++round) {
    const absl::Status status = Migrate(*database, kSteps);
    ASSERT_TRUE(status.ok()) << status;
    ExpectNewestSchema(*database);
  }
}

TEST(MigrationsTest, GoesOnFromAnOlderSchema) {
  TemporaryDirectory temporary;
  auto database = OpenWriter(temporary.File("m.db"));
  ASSERT_TRUE(Migrate(*database, {kSteps.data(), 1}).ok());
  ASSERT_TRUE(Migrate(*database, {kSteps.data(), 2}).ok());
  ASSERT_TRUE(Migrate(*database, kSteps).ok());
  ExpectNewestSchema(*database);
}

TEST(MigrationsTest, ResumesAfterBeingKilledAtAnyStatement) {
  int killed = 0;
  for (int statement = 1;; ++statement) {
    TemporaryDirectory temporary;
    const std::string path = temporary.File("m.db");
    const bool died = MigrateAndDieAt(path, statement);
    auto database = OpenWriter(path);
    const absl::Status status = Migrate(*database, kSteps);
    ASSERT_TRUE(status.ok()) << "killed at statement " << statement << ": " << status;
    ExpectNewestSchema(*database);
    if (!died) break;
    ++killed;
  }
  // There are at least three BEGIN, three COMMIT and four PRAGMA statements, plus seven statements
  // in the migration steps.
  EXPECT_GE(killed, 17);
}

// Like KillAtStatement, but for every database that this process opens from now on.
void KillAtStatementOfAny(int number) {
  static int left;
  left = number;
  const auto trace = [](sqlite3* handle, const char**, const sqlite3_api_routines*) {
    const auto at_statement = [](unsigned, void*, void*, void*) {
      if (--left == 0) raise(SIGKILL);
      return 0;
    };
    return sqlite3_trace_v2(handle, SQLITE_TRACE_STMT, at_statement, nullptr);
  };
  int (*init)(sqlite3*, const char**, const sqlite3_api_routines*) = trace;
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(init));
}

// Runs the migration in a child process that is killed at `statement`. Returns false if the child
// finished before that statement.
bool OpenStoresAndDieAt(const std::string& directory, int statement) {
  ChildProcess child([&](int) {
    KillAtStatementOfAny(statement);
    if (!OpenSqliteStores(directory).ok()) _exit(2);
  });
  const int status = child.Wait();
  if (WIFSIGNALED(status)) return true;
  EXPECT_EQ(WEXITSTATUS(status), 0) << "at statement " << statement;
  return false;
}

// Returns the tables, the indexes and the version of all databases of a controller.
std::vector<std::string> SchemaOf(const std::string& directory) {
  std::vector<std::string> schema;
  for (const char* name : {"events.db", "metrics.db", "logs.db"}) {
    auto database = SqliteDatabase::Open(directory + "/" + name, SqliteDatabase::Mode::kReader);
    EXPECT_TRUE(database.ok()) << database.status();
    schema.push_back(std::to_string(*(*database)->QueryInt64("PRAGMA user_version")));
    auto query = (*database)->Query("SELECT sql FROM sqlite_schema ORDER BY name");
    while (*query->Next()) schema.emplace_back(query->Bytes(0));
  }
  return schema;
}

TEST(MigrationsTest, TheStoresOfAControllerResumeAfterBeingKilledAtAnyStatement) {
  TemporaryDirectory temporary;
  ASSERT_TRUE(OpenSqliteStores(temporary.File("whole")).ok());
  const std::vector<std::string> whole = SchemaOf(temporary.File("whole"));
  int killed = 0;
  for (int statement = 1;; ++statement) {
    const std::string directory = temporary.File(std::to_string(statement));
    const bool died = OpenStoresAndDieAt(directory, statement);
    const auto stores = OpenSqliteStores(directory);
    ASSERT_TRUE(stores.ok()) << "killed at statement " << statement << ": " << stores.status();
    ASSERT_EQ(SchemaOf(directory), whole) << "killed at statement " << statement;
    if (!died) break;
    ++killed;
  }
  // Each of the three databases needs a BEGIN, a COMMIT, the version, and at least two statements
  // of the migration steps.
  EXPECT_GE(killed, 15);
}

TEST(MigrationsTest, FailedStepLeavesTheSchemaAsItWas) {
  TemporaryDirectory temporary;
  auto database = OpenWriter(temporary.File("m.db"));
  const std::vector<Migration> broken = {kSteps[0],
                                         Migration{"CREATE TABLE v (a INT); INSERT INTO nowhere;"}};
  EXPECT_FALSE(Migrate(*database, broken).ok());
  EXPECT_EQ(*database->QueryInt64("PRAGMA user_version"), 1);
  EXPECT_EQ(*database->QueryInt64("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'v'"), 0);
}

TEST(MigrationsTest, RefusesDatabaseOfNewerRelease) {
  TemporaryDirectory temporary;
  auto database = OpenWriter(temporary.File("m.db"));
  ASSERT_TRUE(Migrate(*database, kSteps).ok());
  const absl::Status status = Migrate(*database, {kSteps.data(), 2});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(testing::HasSubstr("m.db"), testing::HasSubstr("schema version 3"),
                             testing::HasSubstr("up to 2")));
  ExpectNewestSchema(*database);
}

}  // namespace
}  // namespace trainyard::controller
