// Tests `submit`.
#include <filesystem>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SubmitTest : public CliFixture {
 protected:
  SubmitTest() {
    job_ = WriteFile("job.yaml", kJobFile);
    *answers().submit.mutable_job() = RunningJob();
    answers().submit.mutable_job()->set_state(v1::JOB_STATE_QUEUED);
  }

  std::string job_;
};

TEST_F(SubmitTest, SendsTheResolvedSpecWithOriginsAndUser) {
  const CliResult result = Run({"submit", job_, "--set", "resources.slots_per_node=2", "--name",
                                "other", "--request-id", "r-1", "--hold"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "job 17 tiny queued\n");
  EXPECT_THAT(result.err, HasSubstr("trainyard wait -f 17"));
  EXPECT_THAT(result.err, HasSubstr("trainyard logs -f 17"));
  EXPECT_THAT(result.err, HasSubstr("trainyard describe 17"));
  ASSERT_EQ(answers().submit_requests.size(), 1u);
  const v1::SubmitJobRequest& request = answers().submit_requests[0];
  EXPECT_EQ(request.user(), "ada");
  EXPECT_EQ(request.request_id(), "r-1");
  EXPECT_TRUE(request.hold());
  EXPECT_EQ(request.spec().name(), "other");
  EXPECT_EQ(request.spec().resources().slots_per_node(), 2);
  EXPECT_EQ(request.spec().layout().dp(), 4);
  std::map<std::string, std::string> origins;
  for (const v1::Origin& origin : request.origins()) origins[origin.key()] = origin.source();
  EXPECT_EQ(origins["name"], "--name");
  EXPECT_THAT(origins["resources.nodes"], HasSubstr("job.yaml:2:"));
  EXPECT_THAT(origins["resources.slots_per_node"], HasSubstr("--set"));
}

TEST_F(SubmitTest, ReadsAJobFileFromStandardInput) {
  input_ = std::string(kJobFile) + "working_directory: code\nenv: {A: 1, HOME: null}\n";
  const CliResult result = Run({"submit", "-", "--set", "env.A=null", "--set", "env.B=x=y"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  ASSERT_EQ(answers().submit_requests.size(), 1u);
  const v1::SubmitJobRequest& request = answers().submit_requests[0];
  EXPECT_EQ(request.spec().name(), "tiny");
  EXPECT_EQ(request.spec().working_directory(),
            (std::filesystem::current_path() / "code").string());
  EXPECT_EQ(request.spec().env().size(), 1u);
  EXPECT_EQ(request.spec().env().at("B"), "x=y");
  EXPECT_THAT(request.spec().unset_env(), ::testing::UnorderedElementsAre("A", "HOME"));
  std::map<std::string, std::string> origins;
  for (const v1::Origin& origin : request.origins()) origins[origin.key()] = origin.source();
  EXPECT_EQ(origins["resources.nodes"], "standard input:2:20");
}

TEST_F(SubmitTest, NamesTheLinesOfABadStandardInput) {
  input_ = "name: tiny\nresorces: {nodes: 2}\n";
  const CliResult result = Run({"submit", "-"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("standard input:2:1: unknown key `resorces`"));
  input_ = "";
  EXPECT_EQ(Run({"submit", "-"}).exit_code, 2);
  EXPECT_THAT(answers().submit_requests, IsEmpty());
}

TEST_F(SubmitTest, NamesTheJobThatItCopiesByItsNumber) {
  *answers().job.mutable_job() = RunningJob();
  EXPECT_EQ(Run({"submit", job_, "--cloned-from", "tiny"}).exit_code, 0);
  ASSERT_EQ(answers().submit_requests.size(), 1u);
  EXPECT_EQ(answers().get_requests[0].job(), "tiny");
  EXPECT_EQ(answers().submit_requests[0].cloned_from(), 17);
  Run({"submit", job_});
  EXPECT_EQ(answers().submit_requests[1].cloned_from(), 0);
  EXPECT_EQ(Run({"submit", job_, "--cloned-from", "tiny@2"}).exit_code, 2);
  EXPECT_EQ(answers().submit_requests.size(), 2u);
}

TEST_F(SubmitTest, TakesACommandAfterDashesAsItStands) {
  const CliResult result =
      Run({"submit", job_, "--", "python3", "a b.py", "--lr", "3e-4", "--", "\"q\": é", "no"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  ASSERT_EQ(answers().submit_requests.size(), 1u);
  EXPECT_THAT(answers().submit_requests[0].spec().command(),
              ElementsAre("python3", "a b.py", "--lr", "3e-4", "--", "\"q\": é", "no"));
}

TEST_F(SubmitTest, MakesARequestIdOfItsOwnEachTime) {
  Run({"submit", job_});
  Run({"submit", job_});
  ASSERT_EQ(answers().submit_requests.size(), 2u);
  EXPECT_EQ(answers().submit_requests[0].request_id().size(), 32u);
  EXPECT_NE(answers().submit_requests[0].request_id(), answers().submit_requests[1].request_id());
  EXPECT_FALSE(answers().submit_requests[0].hold());
}

TEST_F(SubmitTest, SaysHowToRepeatWhenNoAnswerCame) {
  environment_.limits.call = std::chrono::milliseconds(80);
  answers().delay = std::chrono::milliseconds(300);
  const CliResult result = Run({"submit", job_, "--request-id", "r-9"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(result.err, HasSubstr("--request-id r-9"));
}

TEST_F(SubmitTest, PrintsAllMistakesOfTheFile) {
  const std::string bad =
      WriteFile("bad.yaml", "name: x\nresources: {ndoes: 2}\ntrain: {stps: 1}\n");
  const CliResult result = Run({"submit", bad});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean `resources.nodes`?"));
  EXPECT_THAT(result.err, HasSubstr("did you mean `train.steps`?"));
  EXPECT_THAT(answers().submit_requests, IsEmpty());
}

TEST_F(SubmitTest, RefusalExitsWith4) {
  answers().status = grpc::Status(grpc::StatusCode::ALREADY_EXISTS, "job 3 has that name");
  const CliResult result = Run({"submit", job_});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err, "error: job 3 has that name\n");
}

TEST_F(SubmitTest, JsonAndNameAreForScripts) {
  const nlohmann::json job = nlohmann::json::parse(Run({"submit", job_, "-o", "json"}).out);
  EXPECT_EQ(job["id"], 17);
  EXPECT_EQ(job["state"], "queued");
  EXPECT_EQ(Run({"submit", job_, "-o", "name"}).out, "17\n");
}

TEST_F(SubmitTest, DryRunMakesNoJob) {
  answers().plan.set_starts_now(true);
  const CliResult result = Run({"submit", job_, "--dry-run"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("starts immediately"));
  EXPECT_THAT(answers().submit_requests, IsEmpty());
}

TEST_F(SubmitTest, FollowExitsWith5WhenTheJobFails) {
  answers().watches.push_back({{RunningJob(), EndedJob(v1::JOB_STATE_FAILED)}});
  const CliResult result = Run({"submit", job_, "-f"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(answers().watch_requests[0].job(), "17");
  EXPECT_THAT(result.out, HasSubstr("job 17 tiny failed: step 120, loss 3.2012, 3m12s\n"));
  EXPECT_THAT(result.out, HasSubstr("rank 1 exited with 70"));
  EXPECT_THAT(result.err, HasSubstr("running  step 120/300 (40%)"));
}

}  // namespace
}  // namespace trainyard::cli
