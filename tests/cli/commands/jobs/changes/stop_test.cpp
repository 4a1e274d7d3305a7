#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StopTest : public CliFixture {
 protected:
  StopTest() {
    *answers().stop.mutable_job() = RunningJob();
    answers().stop.mutable_job()->set_state(v1::JOB_STATE_STOPPING);
  }
};

TEST_F(StopTest, StopsOneJobWithoutAsking) {
  const CliResult result = Run({"stop", "tiny"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "job 17 tiny stopping\n");
  ASSERT_EQ(answers().stop_requests.size(), 1u);
  EXPECT_FALSE(answers().stop_requests[0].kill());
  EXPECT_EQ(answers().stop_requests[0].user(), "ada");
}

TEST_F(StopTest, KillAsksOnATerminal) {
  environment_.console.in_is_tty = true;
  input_ = "no\n";
  const CliResult refused = Run({"kill", "tiny"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("Kill tiny now, without a checkpoint? [y/N]"));
  EXPECT_THAT(answers().stop_requests, IsEmpty());
  input_ = "";
  EXPECT_EQ(Run({"kill", "tiny"}).exit_code, 1);
  input_ = " Yes \n";
  EXPECT_EQ(Run({"kill", "tiny"}).exit_code, 0);
  ASSERT_EQ(answers().stop_requests.size(), 1u);
  EXPECT_TRUE(answers().stop_requests[0].kill());
}

TEST_F(StopTest, AStopThatLosesStepsNamesThemAndAsks) {
  *answers().job.mutable_job() = JobThatCannotSave();
  environment_.console.in_is_tty = true;
  input_ = "no\n";
  const CliResult refused = Run({"stop", "tiny"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err,
              HasSubstr("job 17 (tiny): checkpoints have failed since step 80: stopping now loses "
                        "40 steps (1m00s of work)\nStop tiny? [y/N]"));
  EXPECT_THAT(answers().stop_requests, IsEmpty());
  input_ = "y\n";
  EXPECT_EQ(Run({"stop", "tiny"}).exit_code, 0);
  EXPECT_EQ(answers().stop_requests.size(), 1u);
}

TEST_F(StopTest, AScriptThatLosesStepsIsWarned) {
  *answers().job.mutable_job() = JobThatCannotSave();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"stop", "tiny"}, {"stop", "-y", "tiny"}}) {
    const CliResult result = Run(command);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("stopping now loses 40 steps"));
  }
  EXPECT_EQ(answers().stop_requests.size(), 2u);
}

TEST_F(StopTest, AKillNamesTheStepsThatNoCheckpointContains) {
  *answers().job.mutable_job() = JobThatCannotSave();
  answers().job.mutable_job()->mutable_health()->clear_findings();
  EXPECT_THAT(Run({"stop", "tiny"}).err, IsEmpty()) << "its last save is expected to succeed";
  EXPECT_THAT(Run({"kill", "-y", "tiny"}).err,
              HasSubstr("killing now loses 40 steps (1m00s of work) since step 80"));
}

TEST_F(StopTest, ScriptsMustSayYes) {
  const CliResult kill = Run({"kill", "tiny"});
  EXPECT_EQ(kill.exit_code, 2);
  EXPECT_THAT(kill.err, HasSubstr("add -y"));
  EXPECT_EQ(Run({"stop", "1", "2"}).exit_code, 2);
  EXPECT_THAT(answers().stop_requests, IsEmpty());
  EXPECT_EQ(Run({"kill", "-y", "tiny"}).exit_code, 0);
  EXPECT_EQ(Run({"stop", "1", "2", "--yes"}).exit_code, 0);
  EXPECT_EQ(answers().stop_requests.size(), 3u);
}

TEST_F(StopTest, OneFailureDoesNotKeepTheOthers) {
  answers().stop_errors["1"] = grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "it has ended");
  answers().stop_errors["2"] = grpc::Status(grpc::StatusCode::NOT_FOUND, "no job 2");
  const CliResult result = Run({"stop", "-y", "1", "2", "3"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.out, "job 17 tiny stopping\n");
  EXPECT_THAT(result.err, HasSubstr("it has ended"));
  EXPECT_THAT(result.err, HasSubstr("no job 2"));
}

TEST_F(StopTest, AnUnreachableControllerEndsTheList) {
  answers().stop_errors["1"] = grpc::Status(grpc::StatusCode::NOT_FOUND, "no job 1");
  answers().stop_errors["2"] = grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone");
  const CliResult result = Run({"stop", "-y", "1", "2", "3"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "");
}

TEST_F(StopTest, AWrongNameStopsNothing) {
  EXPECT_EQ(Run({"stop", "-y", "1", "Bad Name"}).exit_code, 2);
  EXPECT_THAT(answers().stop_requests, IsEmpty());
}

}  // namespace
}  // namespace trainyard::cli
