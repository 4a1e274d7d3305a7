// Tests `node drain`.
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class DrainTest : public CliFixture {};

TEST_F(DrainTest, SendsTheDeadlineTheReasonAndTheUser) {
  answers();  // Starts the server.
  const CliResult result =
      Run({"node", "drain", "gpu05", "--deadline", "30m", "--reason", "bad fan"});
  EXPECT_EQ(result.out,
            "node gpu05 is draining: new ranks are not placed; jobs save and move within 30 min\n");
  EXPECT_THAT(result.err, HasSubstr("trainyard node undrain gpu05"));
  ASSERT_EQ(answers().cordon_requests.size(), 1u);
  const v1::CordonNodeRequest& request = answers().cordon_requests[0];
  EXPECT_TRUE(request.cordoned());
  EXPECT_EQ(request.drain_after_ms(), 1'800'000);
  EXPECT_EQ(request.reason(), "bad fan");
  EXPECT_EQ(request.user(), "ada");
}

TEST_F(DrainTest, WithoutADeadlineJobsLeaveNow) {
  answers();  // Starts the server.
  EXPECT_THAT(Run({"node", "drain", "gpu05"}).out, HasSubstr("jobs save and move now"));
  ASSERT_EQ(answers().cordon_requests.size(), 1u);
  EXPECT_TRUE(answers().cordon_requests[0].has_drain_after_ms());
  EXPECT_EQ(answers().cordon_requests[0].drain_after_ms(), 0);
}

TEST_F(DrainTest, RefusesADeadlineThatIsNoDurationOrTooLong) {
  for (const char* deadline : {"soon", "31d", "-5m"}) {
    const CliResult result = Run({"node", "drain", "gpu05", absl::StrCat("--deadline=", deadline)});
    EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::kUsage)) << deadline;
    EXPECT_THAT(result.err, HasSubstr("must be a duration of at most 30 days")) << deadline;
  }
  EXPECT_TRUE(answers().cordon_requests.empty());
}

}  // namespace
}  // namespace trainyard::cli
