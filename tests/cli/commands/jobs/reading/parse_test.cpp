// Tests `parse`.
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ParseTest : public CliFixture {
 protected:
  const std::string nanogpt_ = WriteFile(
      "nanogpt.log",
      "loading\n[rank0]: iter 1: loss 4.5000, time 20.00ms, mfu -100.00%\n"
      "iter 2: loss nan, time 10.00ms, mfu 12.00%\rsaving\niter 3: loss 4.25, time 10.00ms");
};

TEST_F(ParseTest, DetectsTheKindAndShowsTheNewestRecords) {
  const CliResult result = Run({"parse", nanogpt_, "--limit", "2"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("STEP"), HasSubstr("loss 4.25, step_seconds 0.01"),
                                Not(HasSubstr("4.5"))));
  EXPECT_THAT(result.err, HasSubstr("3 records in 5 lines of kind nanogpt, from step 1 to 3"));
}

TEST_F(ParseTest, PrintsEveryRecordForPrograms) {
  const CliResult json = Run({"parse", nanogpt_, "--kind", "nanogpt", "-o", "json"});
  EXPECT_EQ(
      json.out,
      "{\"metrics\":{\"loss\":4.5,\"step_seconds\":0.02},\"step\":1,\"total_steps\":null}\n"
      "{\"metrics\":{\"loss\":\"NaN\",\"mfu\":0.12,\"step_seconds\":0.01},\"step\":2,"
      "\"total_steps\":null}\n"
      "{\"metrics\":{\"loss\":4.25,\"step_seconds\":0.01},\"step\":3,\"total_steps\":null}\n");
  const CliResult csv =
      Run({"parse", nanogpt_, "--kind", "nanogpt", "--scale", "loss=2", "-o", "csv"});
  EXPECT_THAT(csv.out, AllOf(HasSubstr("step,metric,value\n1,loss,9\n"), HasSubstr("3,loss,8.5")));
}

TEST_F(ParseTest, ReadsStandardInputAndPatterns) {
  input_ = "s=7 l=2.5\n";
  const CliResult result =
      Run({"parse", "-", "--pattern", "s=(?P<step>\\d+) l=(?P<loss>[0-9.]+)", "-o", "csv"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("7,loss,2.5"));
  EXPECT_EQ(Run({"parse", "-", "--pattern", "s=(\\d+"}).exit_code, 2);
}

TEST_F(ParseTest, KindThatFindsNothingNamesTheKindThatDoes) {
  const CliResult result = Run({"parse", nanogpt_, "--kind", "megatron"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, AllOf(HasSubstr("none of 5 lines contains a step in the format megatron"),
                                HasSubstr("--kind nanogpt")));
  const CliResult nothing = Run({"parse", WriteFile("a.log", "hello\n")});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_THAT(nothing.err, HasSubstr("--kind regex and --pattern"));
  EXPECT_EQ(Run({"parse", directory() + "/none"}).exit_code, 3);
}

}  // namespace
}  // namespace trainyard::cli
