#include "cli/commands/documents/completion.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "proto/jobspec/fields/schema.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class CompletionTest : public CliFixture {};

TEST_F(CompletionTest, EveryShellKnowsCommandsOptionsFormatsAndKeys) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const CliResult result = Run({"completion", shell});
    EXPECT_EQ(result.exit_code, 0);
    for (const std::string command : {"submit", "describe", "ckpt", "recipe", "completion"}) {
      EXPECT_THAT(result.out, HasSubstr(command)) << shell;
    }
    EXPECT_THAT(result.out, HasSubstr("request-id")) << shell;
    EXPECT_THAT(result.out, HasSubstr("csv json name table wide yaml")) << shell;
    for (const std::string& key : JobFileKeys()) {
      EXPECT_THAT(result.out, HasSubstr(absl::StrCat(key, "="))) << shell;
    }
    if (shell == "fish") {
      EXPECT_THAT(result.out, HasSubstr("\"ps\"' -s o -x -a 'csv")) << shell;
      EXPECT_THAT(result.out, HasSubstr("\"data prepare\"' -s o -x -a '(__fish_complete_dir"));
    }
    EXPECT_EQ(result.out.find('@' + std::string("WORDS@")), std::string::npos) << shell;
  }
}

}  // namespace
}  // namespace trainyard::cli
