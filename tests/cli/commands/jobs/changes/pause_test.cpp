#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PauseTest : public CliFixture {
 protected:
  PauseTest() {
    *answers().pause.mutable_job() = RunningJob();
    answers().pause.mutable_job()->set_state(v1::JOB_STATE_PAUSING);
    *answers().resume.mutable_job() = RunningJob();
    answers().resume.mutable_job()->set_state(v1::JOB_STATE_QUEUED);
  }
};

TEST_F(PauseTest, AsksNothingAndShowsTheNewState) {
  const CliResult paused = Run({"pause", "tiny", "18"});
  EXPECT_EQ(paused.exit_code, 0);
  EXPECT_EQ(paused.out, "job 17 tiny pausing\njob 17 tiny pausing\n");
  ASSERT_EQ(answers().pause_requests.size(), 2u);
  EXPECT_EQ(answers().pause_requests[0].job(), "tiny");
  EXPECT_EQ(answers().pause_requests[1].job(), "18");
  EXPECT_EQ(answers().pause_requests[0].user(), "ada");
  EXPECT_EQ(Run({"resume", "tiny"}).out, "job 17 tiny queued\n");
  ASSERT_EQ(answers().resume_requests.size(), 1u);
  EXPECT_EQ(answers().resume_requests[0].user(), "ada");
}

TEST_F(PauseTest, APauseThatLosesStepsNamesThemAndAsks) {
  *answers().job.mutable_job() = JobThatCannotSave();
  environment_.console.in_is_tty = true;
  input_ = "no\n";
  const CliResult refused = Run({"pause", "tiny"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("pausing now loses 40 steps"));
  EXPECT_THAT(refused.err, HasSubstr("Pause tiny? [y/N]"));
  EXPECT_THAT(answers().pause_requests, IsEmpty());
  EXPECT_EQ(Run({"pause", "-y", "tiny"}).exit_code, 0);
  EXPECT_EQ(answers().pause_requests.size(), 1u);
}

TEST_F(PauseTest, ARefusalIsShownAndTheOthersAreTried) {
  answers().stop_errors["1"] =
      grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "job 1 (a) is not paused: it is running");
  const CliResult result = Run({"resume", "1", "2"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.out, "job 17 tiny queued\n");
  EXPECT_THAT(result.err, HasSubstr("is not paused: it is running"));
}

TEST_F(PauseTest, AWrongNamePausesNothing) {
  EXPECT_EQ(Run({"pause", "1", "Bad Name"}).exit_code, 2);
  EXPECT_THAT(answers().pause_requests, IsEmpty());
}

}  // namespace
}  // namespace trainyard::cli
