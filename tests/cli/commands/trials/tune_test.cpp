// Tests `tune`.
#include <filesystem>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/commands/trials/trial_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Adds measurements to the sweep, as a machine without daemons would. Run i takes (i + 1) / 10
// seconds. Run `broken` fails.
nlohmann::json Measure(nlohmann::json sweep, size_t broken) {
  for (size_t i = 0; i < sweep["runs"].size(); ++i) {
    nlohmann::json& run = sweep["runs"][i];
    const double seconds = 0.1 * static_cast<double>(i + 1);
    run["metrics"] = {{"step_seconds", std::vector<double>(5, seconds)},
                      {"tokens_per_second", std::vector<double>(5, 100 / seconds)}};
  }
  sweep["runs"][broken].erase("metrics");
  sweep["runs"][broken]["failure"] = "rank 0 ended with 78:\nCUDA out of memory";
  sweep["date"] = "2026-11-20";
  sweep["data"] = "noise";
  return sweep;
}

class TuneTest : public TrialFixture {};

TEST_F(TuneTest, CtrlCKillsTheJobAndSaysSo) {
  answers().watches.assign(
      1, {{JobIn(v1::JOB_STATE_RUNNING)}, {}, true, [this] { interrupt_.Raise(); }});
  const CliResult result = Run({"tune", "llama-tiny-cpu"});
  EXPECT_EQ(result.exit_code, 130);
  ASSERT_THAT(answers().stop_requests, SizeIs(1));
  EXPECT_EQ(answers().stop_requests[0].job(), "21");
  EXPECT_TRUE(answers().stop_requests[0].kill());
  EXPECT_THAT(result.err, AllOf(HasSubstr("interrupted; killed job 21"),
                                HasSubstr("the sweep ended after 0 of")));
}

TEST_F(TuneTest, TuneMeasuresSettingsAndWritesTheChosenOnes) {
  Learns();
  const std::string overlay = directory() + "/tuned.yaml", measured = directory() + "/cpu.yaml";
  const CliResult result = Run({"tune", "llama-tiny-cpu", "--runs", "4", "--write", overlay,
                                "--calibrate", measured, "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json document = nlohmann::json::parse(result.out);
  EXPECT_GE(document["results"].size(), 4u);
  EXPECT_EQ(document["results"][0]["note"], "unchanged; chosen") << "all are equally fast";
  EXPECT_EQ(answers().submit_requests.size(), document["results"].size());
  std::ifstream file(overlay);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, AllOf(HasSubstr("extends: llama-tiny-cpu"), HasSubstr("micro_batch: 8")));
  // The overlay must be a valid job file. With the calibration, predictions must match
  // measurements.
  EXPECT_EQ(Run({"plan", overlay, "--offline"}).exit_code, 0);
  const CliResult again = Run({"tune", "llama-tiny-cpu", "--runs", "2", "--calibration", measured});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr(" %"));
}

TEST_F(TuneTest, TuneTakesWhatAMachineWithoutDaemonsMeasured) {
  const std::string planned = directory() + "/sweep.json", overlay = directory() + "/tuned.yaml";
  const std::vector<std::string> tune = {"tune", "llama3-1.5b", "--set", "data.path=/data/mine"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> line = tune;
    line.insert(line.end(), more.begin(), more.end());
    return Run(line);
  };
  const CliResult wrote =
      with({"--runs", "3", "--steps", "5", "--device", "H200", "--sweep", planned});
  ASSERT_EQ(wrote.exit_code, 0) << wrote.err;
  EXPECT_THAT(wrote.err, HasSubstr("measure them with tests/gpu/sweep.py"));
  const nlohmann::json sweep = nlohmann::json::parse(ReadFile(planned));
  ASSERT_GE(sweep["runs"].size(), 3u);
  EXPECT_EQ(sweep["runs"][0]["spec"]["data"]["path"], "/data/mine");
  EXPECT_EQ(sweep["runs"][0]["spec"]["train"]["log_every_steps"], 1);

  const std::string measured = WriteFile("measured.json", Measure(sweep, 0).dump());
  const std::string calibration = directory() + "/h200.yaml";
  const CliResult judged =
      with({"--measured", measured, "--write", overlay, "--calibrate", calibration, "-o", "json"});
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  const nlohmann::json document = nlohmann::json::parse(judged.out);
  EXPECT_EQ(document["results"].size(), sweep["runs"].size());
  EXPECT_EQ(document["results"][0]["out_of_memory"], true);
  EXPECT_EQ(document["results"][0]["job"], nullptr);
  EXPECT_EQ(document["substituted_data"], "noise");
  EXPECT_EQ(document["results"][1]["chosen"], true) << "the fastest that ran";
  EXPECT_THAT(ReadFile(overlay), AllOf(HasSubstr("extends: llama3-1.5b"), HasSubstr("2026-11-20")));
  EXPECT_EQ(
      Run({"plan", "llama3-1.5b", "--device", "H200", "--calibration", calibration}).exit_code, 0);
  EXPECT_THAT(answers().submit_requests, IsEmpty());
}

TEST_F(TuneTest, AMeasuredSweepOfAnotherJobIsRefused) {
  const std::string planned = directory() + "/sweep.json";
  ASSERT_EQ(Run({"tune", "llama3-1.5b", "--device", "H200", "--sweep", planned}).exit_code, 0);
  const std::string measured =
      WriteFile("measured.json", Measure(nlohmann::json::parse(ReadFile(planned)), 1).dump());
  const auto refusal = [&](const std::string& setting) {
    return Run({"tune", "llama3-1.5b", "--measured", measured, "--set", setting}).err;
  };
  EXPECT_THAT(refusal("train.global_batch=192"),
              HasSubstr("is a sweep of different settings: run"));
  EXPECT_THAT(refusal("model.num_layers=17"), HasSubstr("setting is /model/num_layers"));
  EXPECT_THAT(refusal("optimizer.exp_avg_dtype=bf16"), HasSubstr("/optimizer/exp_avg_dtype"));
  EXPECT_THAT(Run({"tune", "llama-tiny-cpu", "--set", "resources.nodes=1", "--set",
                   "resources.slots_per_node=2", "--measured", measured})
                  .err,
              HasSubstr("the sweep is for H200"));
  EXPECT_THAT(Run({"tune", "llama-tiny-cpu", "--sweep", planned}).err,
              HasSubstr("runs on one machine"));
  EXPECT_THAT(Run({"tune", "llama3-1.5b", "--sweep", planned}).err, HasSubstr("--device H200"));
}

TEST_F(TuneTest, RunsWithoutMemoryAreRows) {
  Ends(v1::JOB_STATE_FAILED);
  v1::Job& job = *answers().job.mutable_job();
  job.mutable_verdict()->set_summary("rank 0 exited with code 78");
  job.mutable_verdict()->set_log_tail("CUDA out of memory");
  job.mutable_attempts(0)->set_last_step(0);
  const CliResult result = Run({"tune", "llama-tiny-cpu", "--runs", "2"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("out of memory"), HasSubstr("Chosen: none"),
                                HasSubstr("layout.micro_batch")));
}

TEST_F(TuneTest, JobsThatCannotBeTunedAreRefused) {
  EXPECT_THAT(Run({"tune", "llama-tiny-cpu", "--set", "layout=auto"}).err,
              HasSubstr("needs a layout to start from"));
  const std::string command = WriteFile("own.yaml", "name: own\ncommand: [python, train.py]\n");
  EXPECT_THAT(Run({"tune", command}).err, HasSubstr("runs its own `command`"));
  EXPECT_THAT(Run({"smoke", command}).err, HasSubstr("runs its own `command`"));
  EXPECT_THAT(answers().submit_requests, IsEmpty());
}

}  // namespace
}  // namespace trainyard::cli
