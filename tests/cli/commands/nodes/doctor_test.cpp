// Tests `doctor`.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class DoctorTest : public CliFixture {
 protected:
  static void AddCheck(v1::NodeChecks& node, const std::string& name, bool ok) {
    v1::NodeCheck& check = *node.add_checks();
    check.set_name(name);
    check.set_ok(ok);
    check.set_found(ok ? "fine" : "1024");
    if (!ok) check.set_advice("set LimitNOFILE=65536");
  }
};

TEST_F(DoctorTest, DoctorFailsWithTheNextStep) {
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
  EXPECT_THAT(ill.err, HasSubstr("node-2 has not reported any checks"));
  const auto json = nlohmann::json::parse(Run({"doctor", "-o", "json"}).out);
  EXPECT_EQ(json[1]["node"], "node-1");
  EXPECT_EQ(json[1]["ok"], false);
}

}  // namespace
}  // namespace trainyard::cli
