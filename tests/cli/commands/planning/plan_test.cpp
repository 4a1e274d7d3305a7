// Tests `plan` without `--device`.
#include <filesystem>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/commands/recipes/recipes_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PlanTest : public CliFixture {
 protected:
  PlanTest() {
    job_ = WriteFile("job.yaml", kJobFile);
    *answers().submit.mutable_job() = RunningJob();
    answers().submit.mutable_job()->set_state(v1::JOB_STATE_QUEUED);
  }

  std::string job_;
};

TEST_F(PlanTest, ShowsSettingsOriginsAndRanks) {
  for (int rank = 0; rank < 2; ++rank) {
    v1::RankPlacement& placement = *answers().plan.add_ranks();
    placement.set_rank(rank);
    placement.set_node_id(rank == 0 ? "id-a" : "id-b");
  }
  (*answers().plan.mutable_node_names())["id-a"] = "node-1";
  answers().plan.mutable_pending()->set_message("needs 2 nodes; 1 is free");
  answers().plan.mutable_pending()->set_advice("--set resources.nodes=1");
  const CliResult result = Run({"plan", job_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("resources.nodes"));
  EXPECT_THAT(result.out, ContainsRegex("resources.nodes +2 +job.yaml:2\n"));
  EXPECT_THAT(result.out, HasSubstr("Placement of 2 ranks\n  node-1: rank 0\n  id-b: rank 1\n"
                                    "  waits: needs 2 nodes; 1 is free\n"
                                    "  try: --set resources.nodes=1\n"));
}

TEST_F(PlanTest, ShowsTheDistanceOfEachAxis) {
  const auto add = [this](const char* axis, const char* crossed, const char* limit,
                          double bandwidth) -> v1::AxisDistance& {
    v1::AxisDistance& distance = *answers().plan.add_axis_distances();
    distance.set_axis(axis);
    distance.set_crossed_level(crossed);
    distance.set_limit(limit);
    distance.set_bytes_per_second(bandwidth);
    return distance;
  };
  add("tp", "", "NVLink 4", 450e9);
  add("dp", "spine", "spine", 12.5e9);
  add("pp", "spine", "leaf", 50e9).set_is_assumed(true);
  answers().plan.set_step_seconds(1.25);
  const CliResult result = Run({"plan", job_});
  EXPECT_THAT(result.out,
              HasSubstr("  tensor parallel stays within nodes: 450 GB/s per GPU (NVLink 4)\n"
                        "  data parallel crosses spine: 12.5 GB/s per GPU\n"
                        "  pipeline crosses spine: 50 GB/s per GPU, limited by leaf (assumed; the "
                        "topology has no bandwidth for leaf)\n"
                        "  predicted step time on these nodes: 1.25 s\n"));
  const std::string text = Run({"plan", job_, "-o", "json"}).out;
  EXPECT_EQ(nlohmann::json::parse(text)["axis_distances"][1]["crossed_level"], "spine");
}

TEST_F(PlanTest, PlanAndSubmitNoteASettingForBenchmarks) {
  const std::string job = WriteFile(
      "forced.yaml",
      "name: forced\n"
      "resources: {device: cpu}\n"
      "model: {num_layers: 2, hidden_size: 64, ffn_hidden_size: 64, num_attention_heads: 4, "
      "vocab_size: 100, num_experts: 8, moe_router_topk: 2, "
      "moe_router_force_load_balancing: true}\n"
      "data: {path: /data}\n"
      "train: {seq_length: 32, global_batch: 4, steps: 10}\n");
  const std::string note = "note: `model.moe_router_force_load_balancing` is for benchmarks only";
  EXPECT_THAT(Run({"plan", "--offline", job}).err, HasSubstr(note));
  EXPECT_THAT(Run({"submit", job}).err, HasSubstr(note));
  EXPECT_THAT(Run({"plan", "--offline", job_}).err, Not(HasSubstr(note)));
}

TEST_F(PlanTest, OriginsInARecipeAreShort) {
  std::filesystem::create_directory(directory() + "/recipes");
  WriteFile("recipes/base.yaml", "resources: {nodes: 2, device: cpu}\nenv:\n  X: one\n");
  const std::string job = WriteFile("mine.yaml", "name: mine\nextends: base\ncommand: [a]\n");
  const std::vector<std::string> plan = {"plan", "--offline", job, "--recipes",
                                         directory() + "/recipes"};
  const std::string table = Run(plan).out;
  EXPECT_THAT(table, ContainsRegex("resources.nodes +2 +base:1\n"));
  EXPECT_THAT(table, ContainsRegex("command +.* +mine.yaml:3\n"));
  std::vector<std::string> json = plan;
  json.insert(json.end(), {"-o", "json"});
  EXPECT_EQ(nlohmann::json::parse(Run(json).out)["origins"]["resources.nodes"],
            directory() + "/recipes/base.yaml:1:20");
}

TEST_F(PlanTest, RefusalExitsWith4AfterTheSettings) {
  answers().status = grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "largest that fits: 1x4");
  const CliResult result = Run({"plan", job_});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, HasSubstr("resources.nodes"));
  EXPECT_THAT(result.err, HasSubstr("largest that fits: 1x4"));
  const nlohmann::json plan = nlohmann::json::parse(Run({"plan", job_, "-o", "json"}).out);
  EXPECT_EQ(plan["refusal"], "largest that fits: 1x4");
  EXPECT_EQ(plan["checked_by_controller"], true);
}

TEST_F(PlanTest, AFailureOfTheControllerIsNoRefusal) {
  answers().status = grpc::Status(grpc::StatusCode::INTERNAL, "the store is damaged");
  const CliResult result = Run({"plan", job_});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("failed: the store is damaged"));
  const nlohmann::json plan = nlohmann::json::parse(Run({"plan", job_, "-o", "json"}).out);
  EXPECT_EQ(plan["refusal"], nullptr);
  EXPECT_EQ(plan["checked_by_controller"], false);
}

TEST_F(PlanTest, WorksWithoutAController) {
  environment_.server = "127.0.0.1:1";
  const CliResult disconnected = Run({"plan", job_});
  EXPECT_EQ(disconnected.exit_code, 0);
  EXPECT_THAT(disconnected.err, HasSubstr("no controller answered at 127.0.0.1:1"));
  const CliResult offline = Run({"plan", "--offline", job_, "-o", "json"});
  EXPECT_EQ(offline.exit_code, 0);
  const nlohmann::json plan = nlohmann::json::parse(offline.out);
  EXPECT_EQ(plan["checked_by_controller"], false);
  EXPECT_EQ(plan["world_size"], 2);
  EXPECT_EQ(plan["spec"]["layout"]["dp"], 2);
  EXPECT_EQ(plan["origins"]["layout.dp"], "derived");
}

// Tests runs that start from a checkpoint of a model with another vocabulary.
class ResumeTest : public PlanTest {
 protected:
  ResumeTest() {
    std::filesystem::create_directories(checkpoint_);
    WriteFile("step/manifest.json", R"({"model":"{\"vocab_size\":7}"})");
    run_ = WriteFile("resumed.yaml",
                     "name: resumed\n"
                     "model: {num_layers: 2, hidden_size: 64, ffn_hidden_size: 64, "
                     "num_attention_heads: 4, vocab_size: 100}\n"
                     "data: {path: /data}\n"
                     "train: {seq_length: 32, global_batch: 4, steps: 10}\n");
  }

  std::string ResumeFrom(const std::string& path) const { return "checkpoint.resume_from=" + path; }

  const std::string checkpoint_ = directory() + "/step";
  std::string run_;
};

TEST_F(ResumeTest, PlanAndSubmitNameTheDifferenceOfAnotherModel) {
  const std::string difference = "model.vocab_size is 100 in this job and 7 in the checkpoint";
  const CliResult plan = Run({"plan", "--offline", run_, "--set", ResumeFrom(checkpoint_)});
  EXPECT_EQ(plan.exit_code, 0);
  EXPECT_THAT(plan.out, HasSubstr("submit would refuse this job"));
  EXPECT_THAT(plan.out, HasSubstr(difference));
  const CliResult submit = Run({"submit", run_, "--set", ResumeFrom(checkpoint_)});
  EXPECT_EQ(submit.exit_code, 2);
  EXPECT_THAT(submit.err, HasSubstr(difference));
  EXPECT_THAT(answers().submit_requests, IsEmpty());
}

TEST_F(ResumeTest, WhatThisMachineCannotSeeIsSaid) {
  const std::string unchecked =
      "note: checkpoint.resume_from was not checked against the model: /away/step is not visible";
  EXPECT_THAT(Run({"plan", "--offline", run_, "--set", ResumeFrom("/away/step")}).err,
              HasSubstr(unchecked));
  const CliResult submit = Run({"submit", run_, "--set", ResumeFrom("/away/step")});
  EXPECT_EQ(submit.exit_code, 0) << submit.err;
  EXPECT_THAT(submit.err, HasSubstr(unchecked));
  const CliResult document =
      Run({"plan", "--offline", run_, "-o", "json", "--set", ResumeFrom("/away/step")});
  EXPECT_THAT(nlohmann::json::parse(document.out)["resume_from_unchecked"].get<std::string>(),
              HasSubstr("not visible"));
}

TEST_F(PlanTest, PredictsTheMemoryOfATrainingRunOnGpus) {
  const std::string run = WriteFile("run.yaml", R"(name: run
model: {num_layers: 18, hidden_size: 2048, ffn_hidden_size: 7168, num_attention_heads: 16,
        num_query_groups: 8, vocab_size: 128256}
layout: {micro_batch: 16}
data: {path: /data}
train: {seq_length: 2048, global_batch: 64, steps: 100}
)");
  const std::string line = "\nPredicted peak memory per GPU: 70.2 GB\n";
  EXPECT_THAT(Run({"plan", "--offline", run}).out, HasSubstr(line));
  const auto predicted = [&](const std::vector<std::string>& more) {
    std::vector<std::string> plan = {"plan", "--offline", "-o", "json"};
    plan.insert(plan.end(), more.begin(), more.end());
    return nlohmann::json::parse(Run(plan).out)["predicted_memory_bytes"];
  };
  EXPECT_NEAR(predicted({run}).get<double>(), 70.2e9, 0.05e9);
  EXPECT_LT(
      predicted({run, "--set", "layout.tp=2", "--set", "resources.slots_per_node=8"}).get<double>(),
      40e9);
  EXPECT_EQ(predicted({run, "--set", "layout.ep=4", "--set", "resources.slots_per_node=4"}),
            nullptr)
      << "the trainer cannot start it";
  EXPECT_EQ(predicted({job_}), nullptr) << "another program";
}

TEST_F(PlanTest, CsvHoldsTheSettings) {
  const CliResult result = Run({"plan", "--offline", job_, "-o", "csv"});
  EXPECT_THAT(result.out, HasSubstr("KEY,VALUE,FROM\nname,tiny,"));
  EXPECT_THAT(result.out, HasSubstr("command,\"[\"\"python3\"\",\"\"train.py\"\"]\","));
}

class RecipePlanTest : public RecipesFixture {};

TEST_F(RecipePlanTest, EveryRecipeIsTrainable) {
  for (const auto& entry : std::filesystem::directory_iterator(RECIPES_DIRECTORY)) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path());
    const CliResult result =
        Run({"plan", "--offline", entry.path().stem(), "--set", "data.path=/tokens"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, Not(HasSubstr("submit would refuse")));
  }
}

}  // namespace
}  // namespace trainyard::cli
