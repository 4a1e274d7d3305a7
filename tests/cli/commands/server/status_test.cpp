// Tests `server status`.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class ServerStatusTest : public CliFixture {};

TEST_F(ServerStatusTest, ShowsVersionAgeAndDataDirectory) {
  answers().server.set_version("0.1.0");
  answers().server.set_data_dir("/var/lib/trainyard");
  answers().server.set_started_time_ms(kNow - 60000);
  const CliResult result = Run({"server", "status"});
  EXPECT_THAT(result.out, HasSubstr("  version      0.1.0\n  up           1m00s\n"));
  EXPECT_EQ(nlohmann::json::parse(Run({"server", "-o", "json"}).out)["data_dir"],
            "/var/lib/trainyard");
}

TEST_F(ServerStatusTest, ServerStatusShowsDangers) {
  answers().server.add_warnings("INSECURE: 0.0.0.0:7070: TLS is off");
  answers().server.set_access("token");
  v1::StoreScrub& scrub = *answers().server.add_scrubs();
  scrub.set_store("logs");
  scrub.set_damaged_pages(2);
  const CliResult result = Run({"server", "status"});
  EXPECT_THAT(result.out, HasSubstr("WARNING      INSECURE: 0.0.0.0:7070"));
  EXPECT_THAT(result.out, HasSubstr("you are      ada (not verified)"));
  EXPECT_THAT(result.out, HasSubstr("2 DAMAGED pages"));
}

TEST_F(ServerStatusTest, TheControllersClockDecidesAges) {
  answers().server.set_started_time_ms(kNow - 60000);
  answers().server.set_as_of_ms(kNow);
  answers().server.add_storage_problems()->set_since_ms(kNow - 5000);
  clock_.now = kNow + 600000;  // This machine's clock is ten minutes ahead.
  const std::string out = Run({"server", "status"}).out;
  EXPECT_THAT(out, HasSubstr("  up           1m00s\n"));
  EXPECT_THAT(out, HasSubstr("(for 5s): "));
}

TEST_F(ServerStatusTest, TheRoleAndTheTermAreShown) {
  v1::Leadership& leadership = *answers().server.mutable_leadership();
  leadership.set_leads(true);
  leadership.set_term(7);
  leadership.set_since_ms(kNow - 60000);
  EXPECT_THAT(Run({"server", "status"}).out, HasSubstr("  role         leads term 7, for 1m00s\n"));
  const std::string address = server().address();
  const CliResult both = Run({"--server", address + ",127.0.0.1:1", "server", "status"});
  EXPECT_THAT(both.out, HasSubstr("leads term 7"));
  EXPECT_THAT(both.out, HasSubstr("  other        127.0.0.1:1: "));
}

TEST_F(ServerStatusTest, TheLagOfAStandbyIsShown) {
  FakeServer standby;
  v1::Leadership& leadership = *standby.answers().server.mutable_leadership();
  leadership.set_leader("10.0.0.1:7070");
  leadership.set_term(7);
  answers().server.mutable_leadership()->set_leads(true);
  const std::string controllers = absl::StrCat(server().address(), ",", standby.address());
  const auto line = [&](uint64_t leader, uint64_t applied) {
    answers().server.set_revision(leader);
    standby.answers().server.set_revision(applied);
    return Run({"--server", controllers, "server", "status"}).out;
  };
  EXPECT_THAT(line(12, 9), HasSubstr("leads term 7; 3 events behind\n"));
  EXPECT_THAT(line(12, 11), HasSubstr("leads term 7; 1 event behind\n"));
  EXPECT_THAT(line(12, 12), HasSubstr("leads term 7; up to date\n"));
  EXPECT_THAT(line(12, 13), HasSubstr("up to date")) << "it has read newer events";
  EXPECT_THAT(line(12, 0), HasSubstr("leads term 7\n")) << "it does not follow the log";
}

TEST_F(ServerStatusTest, TheDatabaseIsShown) {
  v1::DatabaseStatus& database = *answers().server.mutable_database();
  database.set_kind("PostgreSQL");
  database.set_version("15.20");
  database.set_host("db1");
  database.set_database("trainyard");
  database.set_schema("public");
  database.set_size_bytes(3 << 20);
  database.set_read_ms(kNow - 1000);
  database.set_synchronous_commit("on");
  database.set_synchronous_standby_names("ANY 1 (db2)");
  database.set_fsync(true);
  database.set_connections_of("user");
  database.set_connections(12);
  database.set_connections_max(40);
  database.set_replicas_readable(true);
  v1::DatabaseReplica& replica = *database.add_replicas();
  replica.set_name("db2");
  replica.set_address("10.0.0.9");
  replica.set_state("streaming");
  replica.set_sync_state("quorum");
  replica.set_lag_ms(3);
  v1::StandbyController& standby = *answers().server.add_standbys();
  standby.set_address("10.0.0.2:7070");
  standby.set_version("0.1.0");
  standby.set_seen_ms(kNow - 60000);
  standby.set_position(90);
  database.set_newest_event(93);
  // The positions are older than the revision.
  answers().server.set_revision(2000);
  std::string out = Run({"server", "status"}).out;
  EXPECT_THAT(
      out, HasSubstr("  database     PostgreSQL 15.20: trainyard on db1, schema public, 3.0 MiB\n"
                     "  durability   synchronous_commit is on; commits wait for replicas: ANY 1 "
                     "(db2)\n  connections  12 of 40 in use (limit of the user)\n  replica      "
                     "db2 at 10.0.0.9: streaming, quorum, "));
  EXPECT_THAT(
      out,
      HasSubstr(
          "  standby      10.0.0.2:7070: release 0.1.0, reported 1m00s ago, 3 events behind\n"));
  const auto document = nlohmann::json::parse(Run({"server", "-o", "json"}).out);
  EXPECT_EQ(document["database"]["replicas"][0]["sync_state"], "quorum");
  EXPECT_EQ(document["standbys"][0]["address"], "10.0.0.2:7070");
  database.set_error("no answer within 2500 ms");
  database.set_fsync(false);
  out = Run({"server", "status"}).out;
  EXPECT_THAT(out, HasSubstr("  database     CANNOT BE READ: no answer within 2500 ms\n"));
  EXPECT_THAT(out, HasSubstr("FSYNC IS OFF"));
}

}  // namespace
}  // namespace trainyard::cli
