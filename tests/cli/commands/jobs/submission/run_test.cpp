// Tests `run`.
#include <filesystem>

#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

class RunTest : public CliFixture {
 protected:
  RunTest() { *answers().submit.mutable_job() = QueuedJob(); }

  static v1::LogLine Line(int rank, int64_t offset, const std::string& text) {
    v1::LogLine line;
    line.set_attempt(1);
    line.set_rank(rank);
    line.set_offset(offset);
    line.set_text(text);
    return line;
  }

  static v1::Job FailedJob(v1::VerdictCause cause, int exit_code, int signal) {
    v1::Job job = EndedJob(v1::JOB_STATE_FAILED);
    v1::Verdict& verdict = *job.mutable_verdict();
    verdict.set_cause(cause);
    verdict.set_exit_code(exit_code);
    verdict.set_signal(signal);
    verdict.set_summary("the reason");
    return job;
  }

  // Runs a command whose job starts, prints `lines` and ends as `job`.
  CliResult RunUntil(const v1::Job& job, std::vector<v1::LogLine> lines = {}) {
    v1::Job running = RunningJob();
    running.mutable_spec()->mutable_resources()->set_nodes(1);
    answers().watches.push_back({{running}});
    answers().logs.push_back({std::move(lines)});
    *answers().job.mutable_job() = job;
    return Run({"run", "--", "python3", "train.py"});
  }
};

TEST_F(RunTest, SubmitsTheCommandForOneStartInTheCurrentDirectory) {
  answers().watches.push_back({{EndedJob(v1::JOB_STATE_SUCCEEDED)}});
  *answers().job.mutable_job() = EndedJob(v1::JOB_STATE_SUCCEEDED);
  const CliResult result = Run({"run", "-N", "2", "-n", "4", "--device", "cpu", "--set", "env.X=1",
                                "--", "/opt/My-Tool.sh", "--lr", "3e-4", "--", "a b"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  ASSERT_EQ(answers().submit_requests.size(), 1u);
  const v1::JobSpec& spec = answers().submit_requests[0].spec();
  EXPECT_THAT(spec.command(), ElementsAre("/opt/My-Tool.sh", "--lr", "3e-4", "--", "a b"));
  EXPECT_THAT(spec.name(), MatchesRegex("mytool.sh-[0-9a-f]+"));
  EXPECT_EQ(spec.resources().nodes(), 2);
  EXPECT_EQ(spec.resources().slots_per_node(), 4);
  EXPECT_EQ(spec.resources().device(), v1::DEVICE_KIND_CPU);
  EXPECT_EQ(spec.restart().max_restarts(), 0);
  EXPECT_EQ(spec.env().at("X"), "1");
  EXPECT_EQ(spec.working_directory(), std::filesystem::current_path().string());
}

TEST_F(RunTest, SettingsAndNamesOverrideThoseOfTheCommand) {
  answers().watches.push_back({{EndedJob(v1::JOB_STATE_SUCCEEDED)}});
  *answers().job.mutable_job() = EndedJob(v1::JOB_STATE_SUCCEEDED);
  Run({"run", "--name", "mine", "--set", "restart.max_restarts=3", "--set",
       "working_directory=/data", "--", "true"});
  ASSERT_EQ(answers().submit_requests.size(), 1u);
  const v1::JobSpec& spec = answers().submit_requests[0].spec();
  EXPECT_EQ(spec.name(), "mine");
  EXPECT_EQ(spec.restart().max_restarts(), 3);
  EXPECT_EQ(spec.working_directory(), "/data");
}

TEST_F(RunTest, PrintsTheOutputAndReturnsTheExitCode) {
  const CliResult result = RunUntil(FailedJob(v1::VERDICT_CAUSE_RANK_EXITED, 3, 0),
                                    {Line(0, 0, "one"), Line(0, 4, "two")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "one\ntwo\n");
  EXPECT_THAT(result.err, HasSubstr("job 17"));
  EXPECT_THAT(result.err, HasSubstr("the reason"));
  ASSERT_EQ(answers().log_requests.size(), 1u);
  EXPECT_TRUE(answers().log_requests[0].follow());
}

TEST_F(RunTest, LinesOfSeveralRanksBeginWithTheRank) {
  answers().watches.push_back({{RunningJob()}});
  answers().logs.push_back({{Line(0, 0, "a"), Line(1, 0, "b")}});
  *answers().job.mutable_job() = EndedJob(v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(Run({"run", "-N", "2", "--", "x"}).out, "[0] a\n[1] b\n");
}

TEST_F(RunTest, ASignalAndTheTimeLimitHaveCodes) {
  EXPECT_EQ(RunUntil(FailedJob(v1::VERDICT_CAUSE_RANK_SIGNALED, 0, 11)).exit_code, 139);
  EXPECT_EQ(RunUntil(FailedJob(v1::VERDICT_CAUSE_OUT_OF_MEMORY, 0, 9)).exit_code, 137);
  EXPECT_EQ(RunUntil(FailedJob(v1::VERDICT_CAUSE_TIME_LIMIT, 0, 15)).exit_code, 124);
}

TEST_F(RunTest, FailuresThatAreNotOfTheCommandReturn125) {
  EXPECT_EQ(RunUntil(FailedJob(v1::VERDICT_CAUSE_NODE_LOST, 0, 0)).exit_code, 125);
  EXPECT_EQ(RunUntil(FailedJob(v1::VERDICT_CAUSE_STOPPED, 0, 15)).exit_code, 125);
  EXPECT_EQ(Run({"run", "true"}).exit_code, 125);
  EXPECT_EQ(Run({"run", "--nodes", "0", "--", "true"}).exit_code, 125);
  EXPECT_THAT(Run({"run"}).err, HasSubstr("run [OPTIONS] -- COMMAND"));
  EXPECT_EQ(Run({"run", "--"}).exit_code, 125);
  EXPECT_EQ(Run({"run", "-o", "json", "--", "true"}).exit_code, 125);
  EXPECT_EQ(Run({"run", "--set", "matrix.env.X=[1, 2]", "--", "true"}).exit_code, 125);
  const std::size_t submitted = answers().submit_requests.size();
  answers().status = grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "no such queue");
  const CliResult refused = Run({"run", "--", "true"});
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_THAT(refused.err, HasSubstr("no such queue"));
  EXPECT_EQ(submitted, 2u) << "wrong command lines submit nothing";
}

TEST_F(RunTest, StatesWhyTheJobWaits) {
  answers().watches.push_back({{QueuedJob(), QueuedJob(), RunningJob()}});
  answers().logs.push_back({});
  answers().why.mutable_pending()->set_message("needs 1 slot, 0 are free");
  *answers().job.mutable_job() = EndedJob(v1::JOB_STATE_SUCCEEDED);
  const CliResult result = Run({"run", "--", "true"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "job 18 waits\nwaiting: needs 1 slot, 0 are free\n");
}

TEST_F(RunTest, CtrlCDetachesFromTheJob) {
  answers().watches.push_back({{RunningJob()}});
  answers().logs.push_back({{}, {}, true, [this] { interrupt_.Raise(); }});
  const CliResult result = Run({"run", "--", "true"});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.err, HasSubstr("trainyard stop 17"));
  EXPECT_THAT(answers().stop_requests, IsEmpty());
}

TEST_F(RunTest, WithStopCtrlCStopsTheJob) {
  answers().watches.push_back({{RunningJob()}});
  answers().logs.push_back({{}, {}, true, [this] { interrupt_.Raise(); }});
  const CliResult result = Run({"run", "--stop", "--", "true"});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.err, HasSubstr("job 17 was asked to stop"));
  ASSERT_EQ(answers().stop_requests.size(), 1u);
  EXPECT_EQ(answers().stop_requests[0].job(), "17");
  EXPECT_FALSE(answers().stop_requests[0].kill());
}

}  // namespace
}  // namespace trainyard::cli
