// Tests the facts that the leader reads from a real server.
#include "controller/store/postgres/postgres_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <signal.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/postgres_schema.h"
#include "tests/controller/store/postgres/postgres_fixture.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kNow = 1'000'000'000'000;

class PostgresProbeTest : public PostgresFixture {
 protected:
  void SetUp() override {
    PostgresFixture::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_TRUE(MigrateEvents(*Connect()).ok());
  }

  DatabaseFacts Read(const std::string& settings) const {
    PostgresProbe probe(settings);
    const auto facts = probe.Read(kNow);
    EXPECT_TRUE(facts.ok()) << facts.status();
    return facts.ok() ? *facts : DatabaseFacts();
  }

  std::string Schema() const {
    const auto rows = Connect()->Query("SELECT current_schema()::text");
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.ok() ? std::string(rows->Bytes(0, 0)) : "";
  }

  // Creates a user that may only read events and the reports of standbys.
  std::string SettingsOfPlainUser(const std::string& name) const {
    EXPECT_TRUE(Connect()
                    ->RunScript(absl::StrCat(
                        "DO $$ BEGIN CREATE ROLE ", name,
                        " LOGIN; EXCEPTION WHEN duplicate_object THEN END $$; GRANT USAGE ON "
                        "SCHEMA ",
                        Schema(), " TO ", name, "; GRANT SELECT ON event, standby TO ", name))
                    .ok());
    return absl::StrCat(settings(), " user=", name);
  }
};

TEST_F(PostgresProbeTest, ServerAndConnectionsAreRead) {
  const DatabaseFacts facts = Read(settings());
  const v1::DatabaseStatus& database = facts.database;
  EXPECT_EQ(database.kind(), "PostgreSQL");
  EXPECT_THAT(database.version(), testing::MatchesRegex("[0-9]+\\.[0-9]+.*"));
  EXPECT_EQ(database.host(), server().directory());
  EXPECT_EQ(database.database(), "postgres");
  EXPECT_THAT(database.schema(), StartsWith("x_"));
  EXPECT_EQ(database.read_ms(), kNow);
  EXPECT_EQ(database.synchronous_commit(), "on");
  EXPECT_FALSE(database.fsync()) << "the server of the tests does not sync";
  EXPECT_FALSE(database.read_only());
  EXPECT_GT(database.size_bytes(), 1 << 20);
  EXPECT_EQ(database.connections_of(), "server");
  EXPECT_EQ(database.connections_max(), 60);
  EXPECT_GE(database.connections(), 1);
  EXPECT_TRUE(database.replicas_readable());
  EXPECT_TRUE(facts.standbys.empty());
}

TEST_F(PostgresProbeTest, ALoweredSettingAndAReadOnlyServerAreRead) {
  const DatabaseFacts facts =
      Read(absl::StrCat(settings(), " options='-c search_path=", Schema(),
                        " -c synchronous_commit=local -c default_transaction_read_only=on'"));
  EXPECT_EQ(facts.database.synchronous_commit(), "local");
  EXPECT_TRUE(facts.database.read_only());
}

TEST_F(PostgresProbeTest, TheClosestLimitOnConnectionsIsRead) {
  const std::string limited = SettingsOfPlainUser("probe_limited");
  ASSERT_TRUE(Connect()->RunScript("ALTER ROLE probe_limited CONNECTION LIMIT 5").ok());
  const v1::DatabaseStatus database = Read(limited).database;
  EXPECT_EQ(database.connections_of(), "user");
  EXPECT_EQ(database.connections(), 1);
  EXPECT_EQ(database.connections_max(), 5);
}

TEST_F(PostgresProbeTest, StandbysOfTheLastHourAreRead) {
  ASSERT_TRUE(Connect()
                  ->RunScript("INSERT INTO standby VALUES ('10.0.0.3:7070', '0.2.0', 0, "
                              "clock_timestamp() - interval '1 min'), ('10.0.0.2:7070', '0.1.0', "
                              "17, clock_timestamp()), ('10.0.0.4:7070', '0.1.0', 5, "
                              "clock_timestamp() - interval '2 hours'); INSERT INTO event (seq, "
                              "job_id, time_ms, kind, payload, checksum) VALUES (19, 0, 0, 0, "
                              "'', 0)")
                  .ok());
  const DatabaseFacts facts = Read(settings());
  EXPECT_EQ(facts.database.newest_event(), 19U);
  ASSERT_EQ(facts.standbys.size(), 2U);
  EXPECT_EQ(facts.standbys[0].address(), "10.0.0.2:7070");
  EXPECT_EQ(facts.standbys[0].version(), "0.1.0");
  EXPECT_EQ(facts.standbys[0].position(), 17U);
  EXPECT_GT(facts.standbys[0].seen_ms(), kNow - 30'000);
  EXPECT_EQ(facts.standbys[1].address(), "10.0.0.3:7070");
  EXPECT_LE(facts.standbys[1].seen_ms(), kNow - 60'000);
}

// A connection that receives the write-ahead log, as a replica does.
class Receiver {
 public:
  explicit Receiver(const std::string& settings)
      : connection_(
            PQconnectdb(absl::StrCat(settings, " replication=true application_name=db2").c_str())) {
    PGresult* system = PQexec(connection_, "IDENTIFY_SYSTEM");
    EXPECT_EQ(PQresultStatus(system), PGRES_TUPLES_OK) << PQerrorMessage(connection_);
    const std::string position = PQgetvalue(system, 0, 2);
    PQclear(system);
    PGresult* started =
        PQexec(connection_, absl::StrCat("START_REPLICATION PHYSICAL ", position).c_str());
    EXPECT_EQ(PQresultStatus(started), PGRES_COPY_BOTH) << PQerrorMessage(connection_);
    PQclear(started);
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  ~Receiver() { PQfinish(connection_); }

 private:
  PGconn* connection_;
};

TEST_F(PostgresProbeTest, ReplicasAreCountedByEveryUserAndDescribedWithTheRight) {
  const Receiver replica(server().Settings());
  const v1::DatabaseStatus described = Read(settings()).database;
  ASSERT_EQ(described.replicas_size(), 1);
  EXPECT_EQ(described.replicas(0).name(), "db2");
  EXPECT_EQ(described.replicas(0).sync_state(), "async");
  EXPECT_FALSE(described.replicas(0).state().empty());
  const v1::DatabaseStatus counted = Read(SettingsOfPlainUser("probe_plain")).database;
  EXPECT_FALSE(counted.replicas_readable());
  ASSERT_EQ(counted.replicas_size(), 1);
  EXPECT_EQ(counted.replicas(0).sync_state(), "");
}

TEST_F(PostgresProbeTest, AfterARestartOfTheServerTheNextReadConnectsAgain) {
  PostgresProbe probe(settings());
  ASSERT_TRUE(probe.Read(kNow).ok());
  server().Stop(SIGINT);
  const absl::Status stopped = probe.Read(kNow).status();
  EXPECT_EQ(stopped.code(), absl::StatusCode::kUnavailable) << stopped;
  EXPECT_THAT(std::string(stopped.message()), HasSubstr("check that the server runs"));
  ASSERT_TRUE(server().StartProcess().ok());
  EXPECT_TRUE(probe.Read(kNow).ok());
}

}  // namespace
}  // namespace trainyard::controller
