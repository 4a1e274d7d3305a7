#include "controller/api/cluster/database_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Timestamp kNow = 1'000'000'000'000;

v1::GetServerInfoResponse Sound() {
  v1::GetServerInfoResponse info;
  v1::DatabaseStatus& database = *info.mutable_database();
  database.set_kind("PostgreSQL");
  database.set_version("15.20");
  database.set_database("trainyard");
  database.set_host("db1");
  database.set_read_ms(kNow - 1000);
  database.set_synchronous_commit("on");
  database.set_synchronous_standby_names("FIRST 1 (db2)");
  database.set_fsync(true);
  database.set_connections_of("server");
  database.set_connections(20);
  database.set_connections_max(97);
  database.set_replicas_readable(true);
  database.set_newest_event(1'200'000);
  v1::DatabaseReplica& replica = *database.add_replicas();
  replica.set_name("db2");
  replica.set_sync_state("sync");
  replica.set_lag_ms(4);
  v1::StandbyController& standby = *info.add_standbys();
  standby.set_address("10.0.0.2:7070");
  standby.set_seen_ms(kNow - 1100);
  standby.set_position(1'200'000);
  v1::Leadership& leadership = *info.mutable_leadership();
  leadership.set_leads(true);
  leadership.set_leader("10.0.0.1:7070");
  leadership.set_term(7);
  leadership.set_since_ms(kNow - 3'600'000);
  return info;
}

class DatabaseChecksTest : public testing::Test {
 protected:
  v1::DatabaseStatus& database() { return *info_.mutable_database(); }
  v1::StandbyController& standby() { return *info_.mutable_standbys(0); }

  // Returns what the passed check of the leader has found.
  std::string Leader() const {
    for (const v1::NodeCheck& check : DatabaseChecks(info_)) {
      if (check.name() != "leader") continue;
      EXPECT_TRUE(check.ok());
      return check.found();
    }
    return "";
  }

  // Expects that exactly this check fails, and returns what it has found.
  std::string FoundBy(const std::string& name) const {
    std::string found;
    for (const v1::NodeCheck& check : DatabaseChecks(info_)) {
      EXPECT_EQ(check.ok(), check.name() != name) << check.name() << ": " << check.found();
      EXPECT_EQ(check.ok(), check.advice().empty()) << check.name();
      if (check.name() == name) found = check.found();
    }
    EXPECT_FALSE(found.empty()) << name << " is not checked";
    EXPECT_THAT(DatabaseWarnings(info_), ElementsAre(HasSubstr(found)));
    return found;
  }

  v1::GetServerInfoResponse info_ = Sound();
};

TEST_F(DatabaseChecksTest, ASoundDatabasePasses) {
  std::map<std::string, std::string> found;
  for (const v1::NodeCheck& check : DatabaseChecks(info_)) {
    EXPECT_TRUE(check.ok()) << check.name() << ": " << check.found();
    found[check.name()] = check.found();
  }
  EXPECT_THAT(DatabaseWarnings(info_), IsEmpty());
  EXPECT_EQ(found["database"], "PostgreSQL 15.20, trainyard on db1");
  EXPECT_EQ(found["durability"], "synchronous_commit is on");
  EXPECT_EQ(found["replicas"], "1 connected, 1 synchronous, at most 4 ms behind");
  EXPECT_EQ(found["connections"], "20 of 97 in use (limit of the server)");
  EXPECT_EQ(found["leader"],
            "10.0.0.1:7070 leads since 2001-09-09 00:46:40 UTC, term 7; the standby 10.0.0.2:7070 "
            "is up to date");
  EXPECT_EQ(found["standbys"], "10.0.0.2:7070");
}

TEST_F(DatabaseChecksTest, StoresInFilesAndAnUnreadDatabaseHaveNoChecks) {
  EXPECT_THAT(DatabaseChecks(v1::GetServerInfoResponse()), IsEmpty());
  database().set_read_ms(0);
  EXPECT_THAT(DatabaseChecks(info_), IsEmpty());
}

TEST_F(DatabaseChecksTest, AnUnreadableDatabaseIsTheOnlyFinding) {
  database().set_error("no answer within 2500 ms");
  EXPECT_EQ(DatabaseChecks(info_).size(), 1U);
  EXPECT_EQ(FoundBy("database"), "no answer within 2500 ms");
}

TEST_F(DatabaseChecksTest, AReadOnlyServerFails) {
  database().set_read_only(true);
  EXPECT_THAT(FoundBy("database"), HasSubstr("accepts no writes"));
}

TEST_F(DatabaseChecksTest, EachLoweredDurabilityFails) {
  database().set_fsync(false);
  EXPECT_THAT(FoundBy("durability"), HasSubstr("fsync is off"));
  EXPECT_FALSE(SurvivesCrash(database()));
  database().set_fsync(true);
  database().set_synchronous_commit("off");
  EXPECT_THAT(FoundBy("durability"), HasSubstr("loses acknowledged changes"));
  EXPECT_FALSE(SurvivesCrash(database()));
  for (const char* lowered : {"local", "remote_write"}) {
    database().set_synchronous_commit(lowered);
    EXPECT_THAT(FoundBy("durability"), HasSubstr("a fail-over to a replica"));
    EXPECT_TRUE(SurvivesCrash(database()));
  }
  database().set_synchronous_commit("remote_apply");
  EXPECT_THAT(DatabaseWarnings(info_), IsEmpty());
}

TEST_F(DatabaseChecksTest, WithoutReplicasToWaitForLocalCommitsAreAsDurable) {
  database().set_synchronous_commit("local");
  database().clear_synchronous_standby_names();
  database().clear_replicas();
  info_.clear_standbys();
  EXPECT_THAT(DatabaseWarnings(info_), IsEmpty());
}

TEST_F(DatabaseChecksTest, SeveralControllersNeedAReplica) {
  database().clear_synchronous_standby_names();
  database().clear_replicas();
  EXPECT_THAT(FoundBy("replicas"), HasSubstr("none"));
}

TEST_F(DatabaseChecksTest, AsynchronousReplicasFail) {
  database().clear_synchronous_standby_names();
  database().mutable_replicas(0)->set_sync_state("async");
  EXPECT_THAT(FoundBy("replicas"), HasSubstr("all 1 are asynchronous"));
  database().set_replicas_readable(false);
  database().mutable_replicas(0)->clear_sync_state();
  EXPECT_THAT(FoundBy("replicas"), HasSubstr("all 1 are asynchronous"));
}

TEST_F(DatabaseChecksTest, AMissingSynchronousReplicaFails) {
  database().mutable_replicas(0)->set_sync_state("async");
  EXPECT_THAT(FoundBy("replicas"), HasSubstr("commits wait"));
  database().clear_replicas();
  database().set_replicas_readable(false);
  EXPECT_THAT(FoundBy("replicas"), HasSubstr("commits wait"));
}

TEST_F(DatabaseChecksTest, UnreadableReplicasPassWithAHint) {
  database().set_replicas_readable(false);
  database().mutable_replicas(0)->clear_sync_state();
  EXPECT_THAT(DatabaseWarnings(info_), IsEmpty());
  EXPECT_THAT(DatabaseChecks(info_)[2].found(), HasSubstr("grant pg_read_all_stats"));
}

TEST_F(DatabaseChecksTest, ALateReplicaFails) {
  database().mutable_replicas(0)->set_lag_ms(61'000);
  database().mutable_replicas(0)->set_behind_bytes(int64_t{5} << 20);
  EXPECT_EQ(FoundBy("replicas"), "replica db2 is 61 s behind (5 MiB)");
}

TEST_F(DatabaseChecksTest, NearlyExhaustedConnectionsFail) {
  database().set_connections_of("user");
  database().set_connections(9);
  database().set_connections_max(10);
  EXPECT_THAT(DatabaseWarnings(info_), IsEmpty());
  database().set_connections(10);
  EXPECT_EQ(FoundBy("connections"), "10 of 10 in use (limit of the user)");
}

TEST_F(DatabaseChecksTest, AStalledStandbyFails) {
  info_.mutable_standbys(0)->set_seen_ms(kNow - 30'000);
  EXPECT_EQ(FoundBy("standbys"), "10.0.0.2:7070 last reported 29 s ago");
}

TEST_F(DatabaseChecksTest, TheLeaderIsNamedWithTheLagOfEachStandby) {
  standby().set_position(1'199'999);
  v1::StandbyController& other = *info_.add_standbys();
  other.set_address("10.0.0.3:7070");
  other.set_seen_ms(kNow - 1100);
  other.set_position(1'199'988);
  EXPECT_THAT(Leader(), EndsWith("term 7; the standby 10.0.0.2:7070 is 1 event behind; the standby "
                                 "10.0.0.3:7070 is 12 events behind"));
  // The position was read after the newest event.
  other.set_position(1'200'001);
  EXPECT_THAT(Leader(), EndsWith("10.0.0.3:7070 is up to date"));
  other.clear_position();
  EXPECT_THAT(Leader(), EndsWith("10.0.0.3:7070 has not read the log yet"));
  EXPECT_THAT(DatabaseWarnings(info_), IsEmpty());
  info_.clear_standbys();
  EXPECT_THAT(Leader(), EndsWith("UTC, term 7"));
  info_.clear_leadership();
  EXPECT_EQ(Leader(), "");
}

TEST_F(DatabaseChecksTest, AStandbyFarBehindFails) {
  standby().set_position(1'100'000);
  EXPECT_THAT(DatabaseWarnings(info_), IsEmpty());
  standby().set_position(1'099'999);
  EXPECT_EQ(FoundBy("standbys"), "10.0.0.2:7070 is 100001 events behind");
}

}  // namespace
}  // namespace trainyard::controller
