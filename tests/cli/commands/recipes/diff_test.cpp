// Tests `recipe diff`.
#include "gmock/gmock.h"
#include "tests/cli/commands/recipes/recipes_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RecipeDiffTest : public RecipesFixture {};

TEST_F(RecipeDiffTest, DiffShowsSettingsThatDiffer) {
  const CliResult result = Run({"recipe", "diff", "llama3-70b", "llama3-70b-tp8-pp4", "-o", "csv"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("layout.tp,4,8\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("model.")));
  EXPECT_EQ(Run({"recipe", "diff", "llama3-8b", "llama3-8b"}).exit_code, 0);
  EXPECT_THAT(Run({"recipe", "diff", "llama3-8b", "llama3-8b-fp8", "-o", "csv"}).out,
              HasSubstr("train.fp8,none,delayed\n"));
  EXPECT_EQ(Run({"recipe", "diff", "llama3-8b", "none"}).exit_code, 3);
}

}  // namespace
}  // namespace trainyard::cli
