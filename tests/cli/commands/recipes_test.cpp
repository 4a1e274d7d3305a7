// recipe list, show, check, diff and new, on the recipes that come with the product and on the
// figures of the documents that they are from.
#include <filesystem>
#include <map>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;

class RecipesTest : public CliFixture {
 protected:
  RecipesTest() { environment_.recipe_directories = {RECIPES_DIRECTORY}; }

  static std::string Document(const std::string& name) {
    return std::string(DOCUMENTS_DIRECTORY) + "/" + name + ".yaml";
  }

  CliResult Check(const std::string& name, const std::string& text) {
    return Run({"recipe", "check", WriteFile(name + ".yaml", text)});
  }
};

TEST_F(RecipesTest, EveryRecipeIsSound) {
  const CliResult result = Run({"recipe", "check", "--all", "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  std::map<std::string, int64_t> parameters, active;
  for (const auto& report : nlohmann::json::parse(result.out)) {
    parameters[report["name"]] = report["parameters"];
    active[report["name"]] = report["active_parameters"];
  }
  EXPECT_EQ(parameters.size(), 29u);
  EXPECT_EQ(parameters["llama3-8b"], 8030261248);
  EXPECT_EQ(parameters["llama3-70b"], 70553706496);
  EXPECT_EQ(parameters["llama3.1-405b"], 405853388800);
  EXPECT_EQ(parameters["llama2-7b"], 6738415616);
  EXPECT_EQ(parameters["mixtral-8x7b"], 46702792704);
  EXPECT_EQ(active["mixtral-8x7b"], 12879925248);
  EXPECT_EQ(parameters["deepseek-v3"], 671026404352) << "without its 61 layers' routing biases";
}

TEST_F(RecipesTest, EveryRecipeIsTrainableOrSaysWhyNot) {
  int64_t plan_only = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RECIPES_DIRECTORY)) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path());
    const CliResult result =
        Run({"plan", "--offline", entry.path().stem(), "--set", "data.path=/tokens"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    if (result.out.find("submit would refuse") == std::string::npos) continue;
    EXPECT_THAT(result.out, HasSubstr("cannot be trained yet"));
    ++plan_only;
  }
  EXPECT_EQ(plan_only, 4);
}

// Each finding by a part of its line, and no others.
TEST_F(RecipesTest, FindsWhatIsWrongInTheDocumentsFigures) {
  const std::map<std::string, std::vector<std::string>> expected = {
      {"chinchilla", {"D / N = 14.62", "6 N D is 1.196 times C"}},
      {"data-mixture", {"the shares sum to 0.97"}},
      {"deepseek-v3",
       {"6222780920832", "a token is computed with 226620699648", "without its sizes",
        "`model.num_query_groups` (16)", "61 / 16", "0.5: DP is GPUs / (TP x PP x CP)",
        "`layout.dp` (32) must be a multiple of `layout.ep` (64); with `layout.etp` 1"}},
      {"gpt3-15b", {"13100206080", "3906252 samples x 4096 are 16B"}},
      {"gpt3-175b", {"150000 steps x 1536 x 2048 are 472B"}},
      {"gpt3-175b-guide", {"300000 steps x 1536 x 2048 are 944B"}},
      {"llama2-1.36b", {"1294159104", "are 1.57B", "right: 33.61-43.69 hours"}},
      {"llama2-1.36b-b200", {"or the rate is of one GPU", "right: 131.2-131.2 hours"}},
      {"llama3-1.5b", {"are 9.4e+20", "right: 1.336e+04-1.503e+04 tokens/s"}},
      {"llama3-2.2b", {"are 8.2e+20"}},
      {"llama3-8b-fp8", {"of which there is one"}},
      {"llama3.1-405b",
       {"126 / 8 = 15.75", "it means 15T tokens; right: train.samples 3662109375"}},
      {"mixtral-8x22b", {"right: 141B", "expert-parallel ranks lie inside it"}},
      {"mixtral-8x7b", {"right: 46.7B", "expert-parallel ranks lie inside it"}},
      {"qwen3-1.8b", {"are 9e+20"}}};
  std::vector<std::string> there, known;
  for (const auto& entry : std::filesystem::directory_iterator(DOCUMENTS_DIRECTORY)) {
    there.push_back(entry.path().stem());
  }
  for (const auto& [name, parts] : expected) {
    SCOPED_TRACE(name);
    known.push_back(name);
    const CliResult result = Run({"recipe", "check", Document(name)});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    for (const std::string& part : parts) EXPECT_THAT(result.out, HasSubstr(part));
    const CliResult json = Run({"recipe", "check", Document(name), "-o", "json"});
    EXPECT_EQ(nlohmann::json::parse(json.out)[0]["findings"].size(), parts.size()) << json.out;
  }
  EXPECT_THAT(there, UnorderedElementsAreArray(known));
}

TEST_F(RecipesTest, ARecipeThatNoLongerHoldsIsFoundAndRenewed) {
  const std::string text =
      "# Expected on H100: -\nname: mine\nextends: llama3-8b\nlayout: {zero: 3}\n";
  const std::string path = WriteFile("mine.yaml", text);
  const CliResult stale = Run({"recipe", "check", path});
  EXPECT_EQ(stale.exit_code, 1);
  EXPECT_THAT(stale.out, HasSubstr("the planner says otherwise"));
  const CliResult renewed = Run({"recipe", "check", path, "--renew"});
  EXPECT_EQ(renewed.exit_code, 0) << renewed.out << renewed.err;
  const std::string line = Run({"recipe", "show", path}).out;
  EXPECT_THAT(line, HasSubstr("# Expected on H100: 1 x 8, 8030261248 parameters, "));
  EXPECT_EQ(Run({"recipe", "check", path}).exit_code, 0);

  const CliResult large = Check("large", "# Expected on A10G: -\nname: a\nextends: llama3-8b\n");
  EXPECT_THAT(large.out, AllOf(HasSubstr("does not fit on A10G"), HasSubstr("plan a --device")));
  EXPECT_THAT(Check("none", "name: a\nextends: llama3-8b\n").out,
              HasSubstr("no line `# Expected on DEVICE: -`"));
  EXPECT_THAT(Check("other", "# Expected on RTX: -\nname: a\nextends: llama3-8b\n").out,
              HasSubstr("no such device is known"));
}

TEST_F(RecipesTest, EveryRecipeHasPoliciesForSpikesAndCheckpoints) {
  for (const auto& entry : std::filesystem::directory_iterator(RECIPES_DIRECTORY)) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string text = Run({"recipe", "show", entry.path().stem()}).out;
    if (text.find("\nextends: ") != std::string::npos) continue;  // The extended one has them.
    EXPECT_THAT(text, AllOf(HasSubstr("\nguard: {policy: "), HasSubstr("\ncheckpoint: {")))
        << entry.path();
  }
}

TEST_F(RecipesTest, WhatAJobFileAloneTellsIsFound) {
  const std::string base = "# Expected on H100: -\nname: a\nextends: llama3-8b\n";
  EXPECT_THAT(Check("blend", base + "data: {blend: [0.7 /a, 0.31 /b]}\n").out,
              HasSubstr("`data.blend` of 2 sets: the shares sum to 1.01"));
  EXPECT_THAT(Check("norms", base + "layout: {sequence_parallel: true}\n").out,
              HasSubstr("`layout.sequence_parallel` at layout.tp 1"));
  EXPECT_THAT(Check("rate", base + "optimizer: {lr: 2e-3}\n").out,
              HasSubstr("the learning rate is high for this model"));
  EXPECT_THAT(Check("clip", base + "optimizer: {clip_grad: 0}\n").out,
              HasSubstr("gradients are not clipped"));
  EXPECT_THAT(Check("warm", base + "schedule: {warmup_steps: 0}\n").out,
              HasSubstr("the learning rate has no warm-up"));
  EXPECT_THAT(Check("guard", base + "checkpoint: {every_steps: 0}\n").out,
              HasSubstr("`guard.policy` rolls back, and `checkpoint.every_steps` is 0"));
}

TEST_F(RecipesTest, BadFilesAreFindingsWithTheirLines) {
  EXPECT_THAT(Check("self", "name: a\nextends: ./self.yaml\n").out,
              HasSubstr("`extends` goes in a circle"));
  EXPECT_THAT(Check("sizes", "name: a\nextends: llama3-8b\nmodel: {hidden_size: 4095}\n").out,
              HasSubstr("`model.hidden_size` (4095) must be a multiple"));
  const std::string base = "name: a\nextends: mixtral-8x7b\n";
  EXPECT_THAT(Check("typo", base + "model: {num_expert: 8}\n").out,
              HasSubstr("typo.yaml:3:9: unknown key `model.num_expert`; did you mean"));
  EXPECT_THAT(Check("policies", base + "guard: {policy: none}\n").out,
              HasSubstr("policies.yaml:3:"));
  EXPECT_THAT(Check("claim", "# Claimed tokens: many\n" + base).out,
              HasSubstr("claim.yaml:1: claimed `tokens` must be a number"));
  const CliResult overflow = Check(
      "overflow", base +
                      "layout: {pp: 1, ep: 1}\nmodel: {num_layers: 1000, hidden_size: 131072, "
                      "num_experts: 65536, moe_ffn_hidden_size: 1048576}\n");
  EXPECT_THAT(overflow.out, HasSubstr("more than 9.2e18 parameters"));
  EXPECT_EQ(Run({"recipe", "check", "llama3-9b"}).exit_code, 3);
  EXPECT_EQ(Run({"recipe", "check"}).exit_code, 2);
}

TEST_F(RecipesTest, DiffShowsSettingsThatDiffer) {
  const CliResult result = Run({"recipe", "diff", "llama3-70b", "llama3-70b-tp8-pp4", "-o", "csv"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("layout.tp,4,8\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("model.")));
  EXPECT_EQ(Run({"recipe", "diff", "llama3-8b", "llama3-8b"}).exit_code, 0);
  EXPECT_THAT(Run({"recipe", "diff", "llama3-8b", "llama3-8b-fp8", "-o", "csv"}).out,
              HasSubstr("train.fp8,none,delayed\n"));
  EXPECT_EQ(Run({"recipe", "diff", "llama3-8b", "none"}).exit_code, 3);
}

TEST_F(RecipesTest, NewFitsARecipeToOtherHardware) {
  const CliResult result =
      Run({"recipe", "new", "--like", "llama3-8b", "--nodes", "4", "--device", "H200"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"# Expected on H200: 4 x 8 (ndr), 8030261248 parameters", "name: llama3-8b-4x8-h200\n",
        "extends: llama3-8b\n", "resources: {nodes: 4, slots_per_node: 8}\n",
        "train: {global_batch: 512, samples: 12800000}\n", "optimizer: {lr: 0.0006, min_lr: 6e-05}",
        "schedule: {warmup_samples: 256000}\n"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
  const std::string path = WriteFile("new.yaml", result.out);
  const CliResult check = Run({"recipe", "check", path});
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
}

TEST_F(RecipesTest, NewTakesASizeARuleAndABatch) {
  const CliResult nearest = Run({"recipe", "new", "--like", "3B", "--nodes", "2", "--device",
                                 "A100", "--lr-rule", "linear", "--name", "mine"});
  EXPECT_THAT(nearest.err, HasSubstr("makes the learning rate 0.0024")) << nearest.out;
  const CliResult half = Run({"recipe", "new", "--like", "3B", "--nodes", "1", "--device", "A100",
                              "--global-batch", "512", "--lr-rule", "linear", "--name", "mine"});
  EXPECT_THAT(half.out, AllOf(HasSubstr("extends: llama3-2.2b\n"), HasSubstr("name: mine\n"),
                              HasSubstr("{lr: 0.0006, min_lr: 6e-05}"),
                              HasSubstr("times the reference batch of 256 samples")));
  const CliResult tokens = Run({"recipe", "new", "--like", "llama3-70b", "--nodes", "16",
                                "--device", "H100", "--global-batch", "1024"});
  EXPECT_THAT(tokens.out, AllOf(HasSubstr("train: {global_batch: 1024}\n"),
                                HasSubstr("{lr: 0.00015, min_lr: 1.5e-05}")))
      << tokens.err;
  const CliResult rampup =
      Run({"recipe", "new", "--like", "gpt3-15b", "--nodes", "3", "--device", "H100"});
  EXPECT_THAT(rampup.out, HasSubstr("rampup_batch_start: null"));
  EXPECT_EQ(Run({"recipe", "check", WriteFile("new.yaml", rampup.out)}).exit_code, 0);
}

TEST_F(RecipesTest, NewRefusesALearningRateThatNoRunHas) {
  const CliResult far = Run({"recipe", "new", "--like", "llama3-8b", "--nodes", "512", "--device",
                             "H100", "--lr-rule", "linear"});
  EXPECT_EQ(far.exit_code, 2);
  EXPECT_THAT(far.out, IsEmpty());
  EXPECT_THAT(far.err, AllOf(HasSubstr("makes the learning rate 0.154"),
                             HasSubstr("0.0003 for the reference batch of 128 samples, times 512"),
                             HasSubstr("no published run of a model of this size is above 0.00115"),
                             HasSubstr("--lr-rule sqrt or keep")));
}

TEST_F(RecipesTest, NewRefusesWhatItCannotMake) {
  const auto error = [this](std::vector<std::string> more, int exit_code) {
    std::vector<std::string> words = {"recipe", "new", "--like"};
    words.insert(words.end(), more.begin(), more.end());
    const CliResult result = Run(words);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_THAT(result.out, IsEmpty());
    return result.err;
  };
  EXPECT_THAT(error({"llama3-70b", "--nodes", "1", "--device", "A6000"}, 1),
              HasSubstr("no layout fits into 1 node of 8 A6000"));
  EXPECT_THAT(error({"llama3-8b", "--device", "RTX"}, 2), HasSubstr("unknown device `RTX`"));
  EXPECT_THAT(error({"llama3-8b", "--device", "V100"}, 2), HasSubstr("no bf16 arithmetic"));
  EXPECT_THAT(error({"mixtral-8x7b", "--device", "H100", "--nodes", "1"}, 1),
              HasSubstr("no layout fits into 1 node of 8 H100"));
  EXPECT_THAT(error({"llama3-9b", "--device", "H100"}, 3), HasSubstr("did you mean"));
  EXPECT_THAT(error({"llama3-8b"}, 2), HasSubstr("--device"));
}

TEST_F(RecipesTest, NewTakesFp8WhereTheDeviceHasIt) {
  const CliResult same =
      Run({"recipe", "new", "--like", "llama3-8b-fp8", "--device", "H200", "--nodes", "2"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  for (const char* part :
       {"extends: llama3-8b-fp8\n", "name: llama3-8b-fp8-2x8-h200\n",
        "resources: {nodes: 2, slots_per_node: 8}\n",
        "train: {global_batch: 256, samples: 12800000}\n", "it lacks FP8 arithmetic",
        "# Expected on H200: 2 x 8 (ndr), 8030261248 parameters"}) {
    EXPECT_THAT(same.out, HasSubstr(part));
  }
  const std::string file = WriteFile("new.yaml", same.out);
  const CliResult check = Run({"recipe", "check", file});
  EXPECT_EQ(check.exit_code, 0) << check.out;
  const CliResult wide = Run({"recipe", "new", "--like", "llama3-8b-fp8", "--device", "A100"});
  EXPECT_EQ(wide.exit_code, 0) << wide.err;
  EXPECT_THAT(wide.err, HasSubstr("the A100 has no FP8: this is the same run in bf16"));
  EXPECT_THAT(wide.out, HasSubstr("fp8: none"));
  EXPECT_EQ(Run({"recipe", "check", WriteFile("wide.yaml", wide.out)}).exit_code, 0);
}

TEST_F(RecipesTest, NewSpreadsExpertsOverOtherClusters) {
  const CliResult made =
      Run({"recipe", "new", "--like", "mixtral-8x7b", "--device", "H200", "--nodes", "4"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr(", ep: "));
  EXPECT_THAT(made.out, HasSubstr("extends: mixtral-8x7b\n"));
  EXPECT_THAT(made.out, HasSubstr("train: {global_batch: 256, samples: 51200000}\n"));
  const CliResult check = Run({"recipe", "check", WriteFile("mixtral.yaml", made.out)});
  EXPECT_EQ(check.exit_code, 0) << check.out;
}

}  // namespace
}  // namespace trainyard::cli
