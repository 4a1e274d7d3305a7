// Tests `server check`.
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class ServerCheckTest : public CliFixture {};

TEST_F(ServerCheckTest, ServerCheckFailsForDamage) {
  v1::StoreCheck& store = *answers().store_checks.add_stores();
  store.set_store("metrics");
  store.set_bytes(4096);
  EXPECT_EQ(Run({"server", "check"}).exit_code, 0);
  answers().store_checks.mutable_stores(0)->add_problems("page at byte 4096 is damaged");
  const CliResult damaged = Run({"server", "check"});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.out, HasSubstr("page at byte 4096 is damaged"));
}

}  // namespace
}  // namespace trainyard::cli
