// dashboard, doctor, node remove and server check.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class OperatorTest : public CliFixture {
 protected:
  static void AddCheck(v1::NodeChecks& node, const std::string& name, bool ok) {
    v1::NodeCheck& check = *node.add_checks();
    check.set_name(name);
    check.set_ok(ok);
    check.set_found(ok ? "fine" : "1024");
    if (!ok) check.set_advice("set LimitNOFILE=65536");
  }
};

TEST_F(OperatorTest, DashboardPrintsTheAddressUnderWhichTheControllerIsReached) {
  answers().login.set_path("/login#code=abc");
  answers().login.set_http_port(7071);
  const CliResult result = Run({"dashboard"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "http://127.0.0.1:7071/login#code=abc\n");
  EXPECT_THAT(result.err, HasSubstr("once"));
  answers().login.set_tls(true);
  const auto json = nlohmann::json::parse(Run({"dashboard", "-o", "json"}).out);
  EXPECT_THAT(json["url"].get<std::string>(), StartsWith("https://127.0.0.1:7071/"));
}

TEST_F(OperatorTest, DashboardSaysHowLongASessionLasts) {
  EXPECT_THAT(Run({"dashboard"}).err, Not(HasSubstr("session"))) << "an older controller";
  answers().login.set_session_idle_ms(12 * 3'600'000);
  answers().login.set_session_max_ms(7 * 86'400'000);
  EXPECT_THAT(Run({"dashboard"}).err,
              HasSubstr("ends after 12h00m without use, and at the latest after 7d00h"));
}

TEST_F(OperatorTest, ServerSessionsListsWhoIsLoggedInAndEndsThem) {
  constexpr int64_t kNow = 1'700'000'000'000;
  answers().sessions.set_as_of_ms(kNow);
  v1::Session& session = *answers().sessions.add_sessions();
  session.set_id("abc123");
  session.set_user("ada");
  session.set_opened_ms(kNow - 7'200'000);
  session.set_used_ms(kNow - 60'000);
  session.set_expires_ms(kNow + 3'600'000);
  session.set_address("10.0.0.7");
  const std::string table = Run({"server", "sessions"}).out;
  for (const char* part : {"abc123", "ada", "2h00m ago", "1m00s ago", "10.0.0.7", "1h00m"}) {
    EXPECT_THAT(table, HasSubstr(part));
  }
  const auto json = nlohmann::json::parse(Run({"server", "sessions", "-o", "json"}).out);
  EXPECT_EQ(json[0]["id"], "abc123");
  const std::vector<v1::EndSessionsRequest>& requests = answers().end_requests;
  EXPECT_TRUE(requests.empty()) << "a list ends nothing";
  EXPECT_EQ(Run({"server", "sessions", "--end", "abc123", "--end", "def456"}).out,
            "2 sessions ended\n");
  EXPECT_EQ(Run({"server", "sessions", "--end-all"}).out, "1 session ended\n");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_THAT(requests[0].ids(), ElementsAre("abc123", "def456"));
  EXPECT_FALSE(requests[0].all());
  EXPECT_TRUE(requests[1].all());
  EXPECT_EQ(Run({"server", "sessions", "--end-all", "--end", "x"}).exit_code, 2);
}

TEST_F(OperatorTest, DoctorFailsWithTheNextStep) {
  v1::NodeChecks& node = *answers().checks.add_nodes();
  node.set_name("node-1");
  node.set_checked_ms(1);
  AddCheck(node, "disk", true);
  const CliResult well = Run({"doctor"});
  EXPECT_EQ(well.exit_code, 0);
  EXPECT_THAT(well.out, HasSubstr("node-1  disk   ok      fine   -"));
  AddCheck(*answers().checks.mutable_nodes(0), "open files", false);
  answers().checks.add_nodes()->set_name("node-2");
  const CliResult ill = Run({"doctor"});
  EXPECT_EQ(ill.exit_code, 1);
  EXPECT_THAT(ill.out, HasSubstr("set LimitNOFILE=65536"));
  EXPECT_THAT(ill.err, HasSubstr("1 of 2 checks failed"));
  EXPECT_THAT(ill.err, HasSubstr("node-2 has sent no checks"));
  const auto json = nlohmann::json::parse(Run({"doctor", "-o", "json"}).out);
  EXPECT_EQ(json[1]["node"], "node-1");
  EXPECT_EQ(json[1]["ok"], false);
}

TEST_F(OperatorTest, NodeRemoveSaysWhoAsks) {
  const std::vector<v1::RemoveNodeRequest>& requests = answers().remove_requests;
  EXPECT_THAT(Run({"node", "remove", "old"}).out, HasSubstr("node old removed"));
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].user(), "ada");
}

TEST_F(OperatorTest, ServerCheckFailsForDamage) {
  v1::StoreCheck& store = *answers().store_checks.add_stores();
  store.set_store("metrics");
  store.set_bytes(4096);
  EXPECT_EQ(Run({"server", "check"}).exit_code, 0);
  answers().store_checks.mutable_stores(0)->add_problems("page at byte 4096 is damaged");
  const CliResult damaged = Run({"server", "check"});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.out, HasSubstr("page at byte 4096 is damaged"));
}

TEST_F(OperatorTest, ServerStatusShowsDangers) {
  answers().server.add_warnings("INSECURE: 0.0.0.0:7070: it has no TLS");
  answers().server.set_access("token");
  v1::StoreScrub& scrub = *answers().server.add_scrubs();
  scrub.set_store("logs");
  scrub.set_damaged_pages(2);
  const CliResult result = Run({"server", "status"});
  EXPECT_THAT(result.out, HasSubstr("WARNING      INSECURE: 0.0.0.0:7070"));
  EXPECT_THAT(result.out, HasSubstr("you are      ada, as this program says"));
  EXPECT_THAT(result.out, HasSubstr("2 DAMAGED pages"));
}

}  // namespace
}  // namespace trainyard::cli
