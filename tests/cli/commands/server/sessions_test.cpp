// Tests `server sessions`.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SessionsTest : public CliFixture {};

TEST_F(SessionsTest, ServerSessionsListsWhoIsLoggedInAndEndsThem) {
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

}  // namespace
}  // namespace trainyard::cli
