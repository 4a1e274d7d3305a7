// Tests `recipe check`.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/commands/recipes/recipes_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

class RecipeCheckTest : public RecipesFixture {};

TEST_F(RecipeCheckTest, EveryRecipeIsSound) {
  const CliResult result = Run({"recipe", "check", "--all", "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  std::map<std::string, int64_t> parameters, active;
  for (const auto& report : nlohmann::json::parse(result.out)) {
    parameters[report["name"]] = report["parameters"];
    active[report["name"]] = report["active_parameters"];
  }
  EXPECT_EQ(parameters.size(), 33u);
  EXPECT_EQ(parameters["llama3-8b"], 8030261248);
  EXPECT_EQ(parameters["llama3-70b"], 70553706496);
  EXPECT_EQ(parameters["llama3.1-405b"], 405853388800);
  EXPECT_EQ(parameters["llama2-7b"], 6738415616);
  // The published checkpoints of Qwen2.5 have these numbers of parameters.
  EXPECT_EQ(parameters["qwen2.5-0.5b"], 494032768);
  EXPECT_EQ(parameters["qwen2.5-1.5b"], 1543714304);
  EXPECT_EQ(parameters["qwen2.5-7b"], 7615616512);
  EXPECT_EQ(parameters["qwen2.5-72b"], 72706203648);
  EXPECT_EQ(parameters["mixtral-8x7b"], 46702792704);
  EXPECT_EQ(active["mixtral-8x7b"], 12879925248);
  EXPECT_EQ(parameters["deepseek-v3"], 671026404352) << "without its 61 layers' routing biases";
}

// Each expected finding is identified by a part of its line. No other finding is allowed.
TEST_F(RecipeCheckTest, FindsWhatIsWrongInTheDocumentsFigures) {
  const std::map<std::string, std::vector<std::string>> expected = {
      {"chinchilla", {"give 14.62 tokens per parameter", "6 N D is 1.196 times C"}},
      {"data-mixture", {"the shares sum to 0.97"}},
      {"deepseek-v3",
       {"6222780920832", "226620699648 parameters are active per token", "needs its sizes",
        "`model.kv_channels` cannot be combined", "`model.num_query_groups` (16)", "61 / 16",
        "0.5: DP is GPUs / (TP x PP x CP)",
        "`layout.dp` (32) must be a multiple of `layout.ep` (64); with `layout.etp` 1"}},
      {"gpt3-15b", {"13100206080", "3906252 samples x 4096 = 16B tokens"}},
      {"gpt3-175b", {"150000 steps x 1536 x 2048 = 472B tokens"}},
      {"gpt3-175b-guide", {"300000 steps x 1536 x 2048 = 944B tokens"}},
      {"llama2-1.36b", {"1294159104", "= 1.57B tokens", "fix: 33.61-43.69 hours"}},
      {"llama2-1.36b-b200",
       {"unless the claimed rate is that of one GPU", "fix: 131.2-131.2 hours"}},
      {"llama3-1.5b", {"= 9.4e+20", "fix: 1.336e+04-1.503e+04 tokens/s"}},
      {"llama3-2.2b", {"= 8.2e+20"}},
      {"llama3-8b-fp8", {"there is only one such rank"}},
      {"llama3.1-405b",
       {"126 / 8 = 15.75", "15T tokens were probably meant; fix: train.samples 3662109375"}},
      {"mixtral-8x22b", {"fix: 141B", "expert-parallel ranks are part of the data-parallel ranks"}},
      {"mixtral-8x7b", {"fix: 46.7B", "expert-parallel ranks are part of the data-parallel ranks"}},
      {"qwen3-1.8b", {"= 9e+20"}}};
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

TEST_F(RecipeCheckTest, ARecipeThatNoLongerHoldsIsFoundAndRenewed) {
  const std::string text =
      "# Expected on H100: -\nname: mine\nextends: llama3-8b\nlayout: {zero: 3}\n";
  const std::string path = WriteFile("mine.yaml", text);
  const CliResult stale = Run({"recipe", "check", path});
  EXPECT_EQ(stale.exit_code, 1);
  EXPECT_THAT(stale.out, HasSubstr("the planner now predicts other values"));
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
              HasSubstr("unknown device"));
}

TEST_F(RecipeCheckTest, EveryRecipeHasPoliciesForSpikesAndCheckpoints) {
  for (const auto& entry : std::filesystem::directory_iterator(RECIPES_DIRECTORY)) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string text = Run({"recipe", "show", entry.path().stem()}).out;
    // A recipe that extends another recipe inherits the policies of that recipe.
    if (text.find("\nextends: ") != std::string::npos) continue;
    EXPECT_THAT(text, AllOf(HasSubstr("\nguard: {policy: "), HasSubstr("\ncheckpoint: {")))
        << entry.path();
  }
}

// Returns the predicted rate and memory of the recipe's line `# Expected on`; "" without the line.
std::string PredictionOf(const std::string& recipe) {
  static const std::regex line("# Expected on .* parameters.*?, (\\S+ tokens/s, .* GB per GPU)");
  std::smatch found;
  return std::regex_search(recipe, found, line) ? found[1].str() : "";
}

TEST_F(RecipeCheckTest, TheReadmeHasEachRecipeWithItsPrediction) {
  std::ifstream file(std::string(RECIPES_DIRECTORY) + "/README.md");
  const std::string readme((std::istreambuf_iterator<char>(file)), {});
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RECIPES_DIRECTORY)) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string name = entry.path().stem();
    const std::size_t begin = readme.find("\n| `" + name + "` | ");
    ASSERT_NE(begin, std::string::npos) << name << " has no row in recipes/README.md";
    const std::string row = readme.substr(begin + 1, readme.find('\n', begin + 1) - begin - 1);
    const std::string prediction = PredictionOf(Run({"recipe", "show", name}).out);
    if (prediction.empty()) continue;
    EXPECT_THAT(row, EndsWith("| " + prediction + " |"));
    ++compared;
  }
  EXPECT_GT(compared, 30) << "almost every recipe has a predicted rate";
}

TEST_F(RecipeCheckTest, WhatAJobFileAloneTellsIsFound) {
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

TEST_F(RecipeCheckTest, BadFilesAreFindingsWithTheirLines) {
  EXPECT_THAT(Check("self", "name: a\nextends: ./self.yaml\n").out,
              HasSubstr("`extends` is circular"));
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

}  // namespace
}  // namespace trainyard::cli
