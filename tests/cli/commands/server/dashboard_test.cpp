// Tests `dashboard`.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DashboardTest : public CliFixture {};

TEST_F(DashboardTest, DashboardPrintsTheAddressUnderWhichTheControllerIsReached) {
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

TEST_F(DashboardTest, DashboardSaysHowLongASessionLasts) {
  EXPECT_THAT(Run({"dashboard"}).err, Not(HasSubstr("session"))) << "an older controller";
  answers().login.set_session_idle_ms(12 * 3'600'000);
  answers().login.set_session_max_ms(7 * 86'400'000);
  EXPECT_THAT(Run({"dashboard"}).err,
              HasSubstr("ends after 12h00m of inactivity, and at the latest after 7d00h"));
}

}  // namespace
}  // namespace trainyard::cli
