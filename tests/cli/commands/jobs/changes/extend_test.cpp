#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ExtendTest : public CliFixture {
 protected:
  ExtendTest() {
    *answers().job.mutable_job() = RunningJob();
    answers().job.mutable_job()->mutable_time_limit_use()->set_extended_ms(60'000);
    *answers().extension.mutable_job() = RunningJob();
    answers().extension.mutable_job()->mutable_time_limit_use()->set_remaining_ms(11'400'000);
  }
};

TEST_F(ExtendTest, AddsTheTimeAndShowsTheRest) {
  const CliResult result = Run({"extend", "tiny", "+1h30m"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "job 17 tiny: 3h10m left until its time limit\n");
  ASSERT_EQ(answers().extend_requests.size(), 1u);
  EXPECT_EQ(answers().extend_requests[0].job(), "tiny");
  EXPECT_EQ(answers().extend_requests[0].by().seconds(), 5400);
  EXPECT_EQ(answers().extend_requests[0].user(), "ada");
  EXPECT_EQ(answers().extend_requests[0].extended_ms(), 60'000);
}

TEST_F(ExtendTest, TheSignIsOptional) {
  EXPECT_EQ(Run({"extend", "17", "500ms"}).exit_code, 0);
  ASSERT_EQ(answers().extend_requests.size(), 1u);
  EXPECT_EQ(answers().extend_requests[0].by().nanos(), 500'000'000);
}

TEST_F(ExtendTest, RefusesTextsThatAreNoDuration) {
  for (const char* wrong : {"2", "soon", "0s", "+-2h", ""}) {
    const CliResult result = Run({"extend", "tiny", wrong});
    EXPECT_EQ(result.exit_code, 2) << wrong;
    EXPECT_THAT(result.err, HasSubstr("must be a duration above 0, such as +2h or 30m")) << wrong;
  }
  EXPECT_THAT(answers().extend_requests, IsEmpty());
}

TEST_F(ExtendTest, ShowsTheControllersRefusal) {
  answers().stop_errors["tiny"] =
      grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "job 17 (tiny) has no time limit");
  const CliResult result = Run({"extend", "tiny", "2h"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("has no time limit"));
}

}  // namespace
}  // namespace trainyard::cli
