// Tests `wait` and other commands that follow a job.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const grpc::Status kGone(grpc::StatusCode::UNAVAILABLE, "Socket closed");

class FollowTest : public CliFixture {};

TEST_F(FollowTest, WaitIsQuietAndTellsSuccess) {
  answers().watches.push_back({{RunningJob(), EndedJob(v1::JOB_STATE_SUCCEEDED)}});
  const CliResult result = Run({"wait", "tiny"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "job 17 tiny succeeded: step 120, loss 3.2012, 3m12s\n");
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(FollowTest, AStoppedJobDidNotSucceed) {
  answers().watches.push_back({{EndedJob(v1::JOB_STATE_STOPPED)}});
  EXPECT_EQ(Run({"wait", "17"}).exit_code, 5);
}

TEST_F(FollowTest, AJobThatItsTimeLimitEndedHasAnExitCodeOfItsOwn) {
  v1::Job job = EndedJob(v1::JOB_STATE_STOPPED);
  job.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_TIME_LIMIT);
  answers().watches.push_back({{job}});
  EXPECT_EQ(Run({"wait", "17"}).exit_code, 8);
}

TEST_F(FollowTest, WaitsForAllJobsAndReportsTheWorst) {
  answers().watches.push_back({{EndedJob(v1::JOB_STATE_FAILED)}});
  answers().watches.push_back({{EndedJob(v1::JOB_STATE_SUCCEEDED)}});
  EXPECT_EQ(Run({"wait", "1", "2"}).exit_code, 5);
  EXPECT_EQ(answers().watch_requests.size(), 2u);
}

TEST_F(FollowTest, CtrlCDetachesAndSaysHowToComeBack) {
  answers().watches.push_back({{RunningJob()}, {}, true, [this] { interrupt_.Raise(); }});
  const CliResult result = Run({"wait", "-f", "tiny"});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.err, ContainsRegex("detached; job (17|tiny) continues"));
  EXPECT_THAT(result.err, ContainsRegex("trainyard wait -f (17|tiny)"));
  EXPECT_THAT(answers().stop_requests, IsEmpty());
}

TEST_F(FollowTest, TimeoutExitsWith6AndLeavesTheJobAlone) {
  answers().watches.push_back({{RunningJob()}, {}, true});
  const CliResult result = Run({"wait", "tiny", "--timeout", "100ms"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.err, ContainsRegex("--timeout reached; job (17|tiny) continues"));
  EXPECT_THAT(answers().stop_requests, IsEmpty());
}

TEST_F(FollowTest, SurvivesALostController) {
  answers().watches.push_back({{RunningJob()}, kGone});
  answers().watches.push_back({{EndedJob(v1::JOB_STATE_SUCCEEDED)}});
  const CliResult result = Run({"wait", "-f", "tiny"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("connection to the controller lost"));
  EXPECT_EQ(answers().watch_requests.size(), 2u);
}

TEST_F(FollowTest, GivesUpOnAControllerThatStaysAway) {
  environment_.limits.reconnect = std::chrono::milliseconds(0);
  answers().watches.push_back({{RunningJob()}, kGone});
  answers().watches.push_back({{}, kGone});
  const CliResult result = Run({"wait", "tiny"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(result.err, HasSubstr("cannot reach a controller"));
}

TEST_F(FollowTest, AStreamThatEndsTooEarlyIsAnError) {
  answers().watches.push_back({{RunningJob()}});
  const CliResult result = Run({"wait", "tiny"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(result.err, HasSubstr("before job 17 ended"));
}

TEST_F(FollowTest, JsonIsOneUpdateALine) {
  answers().watches.push_back({{RunningJob(), EndedJob(v1::JOB_STATE_SUCCEEDED)}});
  std::istringstream lines(Run({"wait", "tiny", "-o", "json"}).out);
  std::string line;
  std::vector<std::string> states;
  while (std::getline(lines, line)) states.push_back(nlohmann::json::parse(line)["state"]);
  EXPECT_THAT(states, ::testing::ElementsAre("running", "succeeded"));
}

TEST_F(FollowTest, ATerminalGetsOneLineThatIsOverwritten) {
  environment_.console.err_is_tty = true;
  environment_.console.width = 50;
  answers().watches.push_back({{RunningJob(), RunningJob(), EndedJob(v1::JOB_STATE_SUCCEEDED)}});
  const CliResult result = Run({"wait", "-f", "tiny"});
  EXPECT_THAT(result.err, HasSubstr("job 17 running (attempt 2 from step 100)\n"));
  EXPECT_THAT(result.err, HasSubstr("\r\033[Krunning  step 120/300 (40%)  loss 3.2012  5.23k …"));
  EXPECT_THAT(result.out, Not(HasSubstr("\033")));
}

TEST_F(FollowTest, AQueuedJobShowsWhatItWaitsFor) {
  v1::Job queued = RunningJob();
  queued.set_state(v1::JOB_STATE_QUEUED);
  queued.clear_progress();
  answers().why.mutable_pending()->set_message("needs 2 nodes; 1 is free");
  answers().watches.push_back({{queued, EndedJob(v1::JOB_STATE_SUCCEEDED)}});
  EXPECT_THAT(Run({"wait", "-f", "tiny"}).err, HasSubstr("waiting: needs 2 nodes; 1 is free\n"));
}

}  // namespace
}  // namespace trainyard::cli
