#include "cli/recipes/claimed_lines.h"

#include "gmock/gmock.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ClaimedLines Find(const std::string& text) { return FindClaimedLines({"job.yaml", text}); }

TEST(ClaimedLinesTest, ReadsEachKindOfClaim) {
  const ClaimedLines found = Find(
      "# A model.\n# Claimed parameters: 46.7B\n# Claimed data-parallel-size: 16\n"
      "# Claimed mfu: 0.35 to 0.4\n# Claimed tokens-per-second: 180000\n# Claimed stages: even\n"
      "# Claimed optimal-tokens: 1.7 C^0.5\n# Claimed device: H100\nname: a\n");
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_EQ(found.count, 7);
  const planner::Claims& claims = found.claims;
  EXPECT_EQ(claims.parameters->value, 46.7e9);
  EXPECT_EQ(claims.data_parallel, 16);
  EXPECT_EQ(claims.mfu->low, 0.35);
  EXPECT_EQ(claims.mfu->high, 0.4);
  EXPECT_EQ(claims.tokens_per_second->low, claims.tokens_per_second->high);
  EXPECT_TRUE(claims.even_stages);
  EXPECT_EQ(claims.optimal_tokens->exponent, 0.5);
  EXPECT_EQ(claims.peak_flops, 989.4e12);
  EXPECT_FALSE(claims.active_parameters.has_value());
}

TEST(ClaimedLinesTest, ReportsLinesThatCannotBeRead) {
  EXPECT_THAT(Find("# Claimed parameter: 1B\n").errors,
              ElementsAre("job.yaml:1: unknown claim `parameter`; did you mean `parameters`?"));
  EXPECT_THAT(Find("\n# Claimed tokens: many\n").errors,
              ElementsAre("job.yaml:2: claimed `tokens` must be a number such as 300, 56B or "
                          "1.36e21"));
  EXPECT_THAT(Find("# Claimed hours: 7 to 5\n").errors,
              ElementsAre("job.yaml:1: claimed `hours` must be a range such as 0.35 to 0.4"));
  EXPECT_THAT(Find("# Claimed optimal-tokens: 3\n").errors,
              ElementsAre("job.yaml:1: claimed `optimal-tokens` must be a power of the budget such "
                          "as 0.12 C^0.5"));
  EXPECT_THAT(Find("# Claimed device: RTX\n").errors,
              ElementsAre("job.yaml:1: claimed `device` must be a device that `trainyard plan "
                          "--device` knows"));
}

TEST(ClaimedLinesTest, OtherTextHasNoClaims) {
  EXPECT_EQ(Find("name: a  # Claimed parameters: 1B\n").count, 0);
}

}  // namespace
}  // namespace trainyard::cli
