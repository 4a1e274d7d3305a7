// Tests the errors of `exec` and `shell` before a session. tests/integration/exec_test.cpp tests
// sessions.
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class ExecTest : public CliFixture {
 protected:
  // Expects exit code 125 and returns the error.
  std::string ErrorOf(const std::vector<std::string>& arguments) {
    const CliResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 125);
    EXPECT_EQ(result.out, "");
    return result.err;
  }
};

TEST_F(ExecTest, ACommandIsRequired) {
  EXPECT_THAT(ErrorOf({"exec", "17"}), HasSubstr("`trainyard exec` needs a command"));
  EXPECT_THAT(ErrorOf({"exec", "--", "true"}), HasSubstr("job is required"));
  EXPECT_THAT(ErrorOf({"exec", "17", "--", "\xff"}), HasSubstr("the command is not UTF-8"));
  EXPECT_THAT(ErrorOf({"exec", "17", "-o", "json", "--", "true"}),
              HasSubstr("does not support -o"));
}

TEST_F(ExecTest, ATerminalIsRequiredForAShell) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"shell", "17"}, {"exec", "-t", "17", "--", "top"}}) {
    EXPECT_THAT(ErrorOf(arguments), HasSubstr("standard input and output must be a terminal"));
  }
}

TEST_F(ExecTest, ReferencesAreChecked) {
  EXPECT_THAT(ErrorOf({"exec", "17@2", "--", "true"}), HasSubstr("names one attempt"));
  EXPECT_THAT(ErrorOf({"exec", "A B", "--", "true"}), HasSubstr("does not name a job"));
  EXPECT_THAT(ErrorOf({"exec", "17", "--rank", "-1", "--", "true"}), HasSubstr("--rank"));
}

TEST_F(ExecTest, AnOlderControllerIsNamed) {
  server();  // It does not have the service.
  EXPECT_THAT(ErrorOf({"exec", "17", "-n", "--", "true"}),
              HasSubstr("is of an older release, which does not support exec; upgrade it"));
}

}  // namespace
}  // namespace trainyard::cli
