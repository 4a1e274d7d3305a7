// Tests `smoke`.
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/commands/trials/trial_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SmokeTest : public TrialFixture {};

TEST_F(SmokeTest, SmokeRunsTenStepsAndChecksThem) {
  Learns();
  AddCheckpoint("/elsewhere/step-10");
  const CliResult result = Run({"smoke", "llama-tiny-cpu"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("ok    steps"), HasSubstr("10 of 10 steps"),
                                HasSubstr("ok    first loss"), HasSubstr("ok    checkpoint"),
                                HasSubstr("cannot see /elsewhere")));
  ASSERT_THAT(answers().submit_requests, SizeIs(1));
  const v1::JobSpec& spec = answers().submit_requests[0].spec();
  EXPECT_EQ(spec.name(), "llama-tiny-cpu-smoke");
  EXPECT_EQ(spec.train().steps(), 10);
  EXPECT_EQ(spec.train().log_every_steps(), 1);
  EXPECT_EQ(spec.evaluation().every_steps(), 0);
  EXPECT_EQ(spec.restart().max_restarts(), 0);
}

TEST_F(SmokeTest, SmokeSaysWhatDataItSubstitutesAndRemovesIt) {
  Learns();
  const CliResult result = Run({"smoke", "llama-tiny-cpu"});
  EXPECT_THAT(result.err, HasSubstr("data: random tokens in"));
  const std::string path = answers().submit_requests[0].spec().data().path();
  EXPECT_FALSE(std::filesystem::exists(path));
  // This machine does not have the recipe's data.
  EXPECT_THAT(Run({"smoke", "llama3-1.5b"}).err,
              HasSubstr("cannot access /data/slimpajama_6b_llama3"));
  const std::string kept = directory() + "/tokens";
  Run({"smoke", "llama-tiny-cpu", "--random-data", kept});
  EXPECT_EQ(answers().submit_requests.back().spec().data().path(), kept);
  EXPECT_EQ(std::filesystem::file_size(kept + "/train.bin"), 2u * (1 << 18));
}

TEST_F(SmokeTest, SmokeTakesTheDataThatIsThere) {
  Learns();
  const std::string path = directory() + "/train.bin";
  std::ofstream(path) << "tokens";
  const CliResult result = Run({"smoke", "llama-tiny-cpu", "--set", "data.path=" + path});
  EXPECT_EQ(answers().submit_requests[0].spec().data().path(), path);
  EXPECT_EQ(result.err.find("random tokens"), std::string::npos);
}

TEST_F(SmokeTest, SmokeFailsWithWhatToChange) {
  AddSeries("loss", {9, 10, 11, 12, 13, 14, 15, 16, 17, 18});
  const CliResult result = Run({"smoke", "llama-tiny-cpu", "-o", "json"});
  EXPECT_EQ(result.exit_code, 1);
  const nlohmann::json document = nlohmann::json::parse(result.out);
  EXPECT_FALSE(document["ok"]);
  std::vector<std::string> wrong;
  for (const nlohmann::json& check : document["checks"]) {
    if (check["ok"]) continue;
    wrong.push_back(check["check"]);
    EXPECT_FALSE(check["findings"].empty());
  }
  EXPECT_THAT(wrong, ::testing::ElementsAre("first loss", "loss", "checkpoint"));
}

TEST_F(SmokeTest, SmokeOfARunThatFailsSaysWhy) {
  Ends(v1::JOB_STATE_FAILED);
  v1::Job& job = *answers().job.mutable_job();
  job.mutable_verdict()->set_summary("rank 0 exited with code 66 (no input)");
  job.mutable_attempts(0)->set_last_step(0);
  const CliResult result = Run({"smoke", "llama-tiny-cpu"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("fail  steps"), HasSubstr("no input")));
}

}  // namespace
}  // namespace trainyard::cli
