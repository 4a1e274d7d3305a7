// Tests of PostgreSQL itself: each test has its own schema on the server of the process.
#ifndef TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_POSTGRES_FIXTURE_H_
#define TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_POSTGRES_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "controller/store/postgres/leader_table.h"
#include "controller/store/postgres/postgres_database.h"
#include "tests/controller/store/postgres/postgres_server.h"

namespace trainyard::controller {

// Begins the next term of the leader without the rules for candidates.
inline absl::StatusOr<int64_t> BeginNextTerm(PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t seen, database.QueryInt64("SELECT term FROM leader"));
  return BeginTerm({.seen_term = seen, .holder = "test", .wait_ms = 20'000}, database);
}

class PostgresFixture : public testing::Test {
 protected:
  void SetUp() override {
    const auto shared = PostgresServer::Shared();
    if (absl::IsNotFound(shared.status())) GTEST_SKIP() << shared.status().message();
    ASSERT_TRUE(shared.ok()) << shared.status();
    server_ = *shared;
    ResetSchema();
  }

  // Replaces the schema of the test by an empty one.
  void ResetSchema() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const std::string schema =
        absl::AsciiStrToLower(absl::StrCat("x_", test->name()).substr(0, 60));
    const auto database = PostgresDatabase::Connect(server_->Settings());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE((*database)->RunScript("DROP SCHEMA IF EXISTS " + schema + " CASCADE").ok());
    const auto settings = server_->SettingsOf(schema);
    ASSERT_TRUE(settings.ok()) << settings.status();
    settings_ = *settings;
  }

  std::unique_ptr<PostgresDatabase> Connect(const PostgresLimits& limits = {}) const {
    auto database = PostgresDatabase::Connect(settings_, limits);
    EXPECT_TRUE(database.ok()) << database.status();
    return database.ok() ? *std::move(database) : nullptr;
  }

  PostgresServer& server() const { return *server_; }
  const std::string& settings() const { return settings_; }

 private:
  PostgresServer* server_ = nullptr;
  std::string settings_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_STORE_POSTGRES_POSTGRES_FIXTURE_H_
