// Tests the commands smoke, tune and extrapolate with real processes. The commands run short jobs
// of the real trainer on CPU slots.
#include <csignal>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using ::testing::HasSubstr;

constexpr Seconds kLongest(200);

class TrialsTest : public testing::Test {
 protected:
  TrialsTest() : cluster_(/*nodes=*/1, /*slots_per_node=*/2), tokens_(cluster_.MakeTokens()) {}

  // Returns a job file for a job with two ranks on one node.
  std::string Job(const std::string& name, int steps = 500) {
    return cluster_.WriteJob(name, TinyJob(name, tokens_, 1, steps));
  }

  nlohmann::json Run(std::vector<std::string> words) {
    words.insert(words.end(), {"--set", "resources.slots_per_node=2", "-o", "json"});
    const CommandResult result = cluster_.Cli(words, kLongest);
    EXPECT_EQ(result.exit_code, 0) << result.output << result.error << cluster_.DaemonLogs();
    return nlohmann::json::parse(result.output, nullptr, /*allow_exceptions=*/false);
  }

  MiniCluster cluster_;
  const std::string tokens_;
};

TEST_F(TrialsTest, SmokeChecksTenStepsAndReadsTheCheckpointBack) {
  const nlohmann::json result = Run({"smoke", Job("small")});
  ASSERT_TRUE(result["ok"]) << result.dump(2);
  EXPECT_EQ(result["name"], "small-smoke");
  EXPECT_TRUE(result["substituted_data"].is_null());
  std::vector<std::string> names;
  for (const nlohmann::json& check : result["checks"]) names.push_back(check["check"]);
  EXPECT_THAT(names, testing::ElementsAre("steps", "first loss", "loss", "tokens/s", "checkpoint"));
  EXPECT_THAT(result["checks"].back()["found"].get<std::string>(), HasSubstr("read back"));
}

TEST_F(TrialsTest, SmokeTrainsOnRandomTokensWhereThereIsNoData) {
  const nlohmann::json result = Run({"smoke", Job("nodata"), "--set", "data.path=/nowhere/tokens"});
  EXPECT_TRUE(result["ok"]) << result.dump(2);
  EXPECT_THAT(result["substituted_data"].get<std::string>(), HasSubstr("/nowhere/tokens"));
}

TEST_F(TrialsTest, TuneMeasuresChoosesAndCalibrates) {
  const std::string overlay = cluster_.directory() + "/tuned.yaml";
  const std::string calibration = cluster_.directory() + "/cpu.yaml";
  const std::string job = Job("swept");
  const nlohmann::json result = Run(
      {"tune", job, "--runs", "3", "--steps", "6", "--write", overlay, "--calibrate", calibration});
  ASSERT_GE(result["results"].size(), 3u);
  for (const nlohmann::json& row : result["results"]) {
    EXPECT_TRUE(row["ran"]) << row.dump(2);
    EXPECT_GT(row["tokens_per_second"], 0);
    EXPECT_EQ(cluster_.Job(row["job"]).state(), v1::JOB_STATE_STOPPED) << "killed after its steps";
    EXPECT_TRUE(cluster_.Job(row["job"]).checkpoints().empty());
  }
  EXPECT_FALSE(result["chosen"].is_null());
  const nlohmann::json plan = Run({"plan", overlay, "--offline"});
  EXPECT_EQ(plan["spec"]["layout"]["micro_batch"], result["chosen"]["micro_batch"]);
  const nlohmann::json again =
      Run({"tune", job, "--runs", "2", "--steps", "6", "--calibration", calibration});
  EXPECT_GT(again["results"][0]["predicted_tokens_per_second"], 0);
}

TEST_F(TrialsTest, CtrlCKillsTheJobOfTheSweep) {
  const std::string log = cluster_.directory() + "/tune.log";
  ChildProcess tune({ProgramPath("trainyard"), "--server", cluster_.address(), "tune", Job("long"),
                     "--set", "resources.slots_per_node=2", "--steps", "100000"},
                    log);
  ASSERT_TRUE(cluster_.WaitForStep(1, 1)) << cluster_.DaemonLogs();
  tune.Signal(SIGINT);
  EXPECT_EQ(tune.Wait(), 130);
  EXPECT_EQ(cluster_.WaitForEnd(1).state(), v1::JOB_STATE_STOPPED);
}

TEST_F(TrialsTest, ExtrapolateExpectsTheLossOfALongerRun) {
  const int64_t job_id =
      cluster_.Submit(Job("curve", 300), {"--set", "resources.slots_per_node=2"});
  ASSERT_EQ(cluster_.WaitForEnd(job_id).state(), v1::JOB_STATE_SUCCEEDED);
  const CommandResult result =
      cluster_.Cli({"extrapolate", std::to_string(job_id), "--tokens", "1M", "-o", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const nlohmann::json document = nlohmann::json::parse(result.output);
  EXPECT_LT(document["loss"], cluster_.Series(job_id, "loss").at(50));
  EXPECT_LE(document["loss_low"], document["loss_high"]);
  EXPECT_GT(document["days_left"], 0);
}

}  // namespace
}  // namespace trainyard::test
