// Tests `scale` and `cost`.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CostTest : public CliFixture {
 protected:
  CostTest() { environment_.recipe_directories = {RECIPES_DIRECTORY}; }
};

TEST_F(CostTest, ScaleDividesABudgetByEveryLaw) {
  const CliResult result = Run({"scale", "--flops", "5.88e23"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("D = 20 N"), HasSubstr("70B"), HasSubstr("1.4T"),
                                HasSubstr("0.1174 C^0.4999"), HasSubstr("14.6"),
                                HasSubstr("least loss"), HasSubstr("Kaplan")));
}

TEST_F(CostTest, ScaleSaysHowFarARunIsOverTrained) {
  const CliResult result = Run({"scale", "--parameters", "1.545B", "--tokens", "101.909B"});
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("9.45e+20 FLOP (6 N D)"), HasSubstr("Predicted loss: 2.335"),
                    HasSubstr("30.9B tokens; this budget has 3.3 times as many")));
}

TEST_F(CostTest, ScaleFindsAShapeOfARecipesFamily) {
  const CliResult result =
      Run({"scale", "--flops", "1.36e21", "--like", "llama3-1.5b", "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["laws"].size(), 4u);
  const nlohmann::json& shape = document["shape"];
  EXPECT_EQ(shape["hidden_size"], shape["num_attention_heads"].get<int>() * 128);
  EXPECT_LT(shape["loss"], 2.32);
  EXPECT_THAT(Run({"scale", "--flops", "1.36e21", "--like", "llama3-1.5b"}).out,
              HasSubstr("Best model shape in the family of llama3-1.5b"));
}

// The example in section 9.1 of the guide, whose figures count only the time spent in steps.
TEST_F(CostTest, CostAgreesWithTheGuidesExample) {
  const CliResult result = Run({"cost", "--parameters", "7B", "--tokens", "2T", "--nodes", "32",
                                "--device", "A100", "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json cost = nlohmann::json::parse(result.out);
  EXPECT_NEAR(cost["flops"], 8.4e22, 1e18);
  EXPECT_NEAR(cost["days_of_steps"], 27.05, 0.01);
  EXPECT_GT(cost["days"], cost["days_of_steps"]);
  const double steps_hours = cost["days_of_steps"].get<double>() * 24 * 256;
  EXPECT_NEAR(steps_hours, 166200, 200);
  EXPECT_NEAR(steps_hours / cost["device_hours"].get<double>(), cost["goodput"], 1e-9);
  bool has_lambda = false;
  for (const auto& price : cost["prices"]) {
    if (price["cloud"] != "Lambda") continue;
    has_lambda = true;
    EXPECT_NEAR(price["dollars"][0], 1.99 * cost["device_hours"].get<double>(), 1e-3);
  }
  EXPECT_TRUE(has_lambda);
}

TEST_F(CostTest, CostPlansARecipe) {
  const CliResult result = Run({"cost", "llama3-8b", "--device", "H100", "--price", "2.5"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("Cost of llama3-8b, 105B tokens on 1 node of 8 H100\n"),
                                HasSubstr("FLOP (with attention)"), HasSubstr("layout"),
                                HasSubstr("(optimum by Young's formula: "), HasSubstr("goodput"),
                                HasSubstr("--price")));
  const CliResult none = Run({"cost", "llama3-1.5b", "--device", "A6000", "--nodes", "1"});
  EXPECT_THAT(
      none.err,
      HasSubstr("no price is known for the A6000; pass the price of a GPU-hour with --price"));
}

TEST_F(CostTest, CostsTheLayoutThatTheRecipeHas) {
  const std::vector<std::string> words = {"cost", "llama3-70b-tp8-pp4", "--device", "H100", "-o",
                                          "json"};
  const nlohmann::json own = nlohmann::json::parse(Run(words).out);
  EXPECT_EQ(own["layout_origin"], "the job file's");
  EXPECT_THAT(own["layout"].get<std::string>(), AllOf(HasSubstr("tp: 8"), HasSubstr("pp: 4")));
  std::vector<std::string> more = words;
  more.insert(more.end(), {"--layout", "best"});
  const nlohmann::json best = nlohmann::json::parse(Run(more).out);
  EXPECT_EQ(best["layout_origin"], "the best");
  EXPECT_LT(best["days_of_steps"], own["days_of_steps"]);
}

TEST_F(CostTest, SaysWhyItDoesNotCostTheWrittenLayout) {
  const CliResult other = Run({"cost", "llama3-70b-tp8-pp4", "--device", "H100", "--nodes", "16",
                               "--set", "layout.dp=2", "--price", "2"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("the layout of the job file cannot run on 16 nodes of 8 H100"));
  EXPECT_THAT(other.out, HasSubstr(", the best layout\n"));
  const CliResult refused = Run({"cost", "llama3-70b-tp8-pp4", "--device", "H100", "--nodes", "16",
                                 "--set", "layout.dp=2", "--layout", "written"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.out, testing::IsEmpty());
}

TEST_F(CostTest, ImpossibleQuestionsAreRefused) {
  const auto error = [this](const std::vector<std::string>& words, int exit_code = 2) {
    const CliResult result = Run(words);
    EXPECT_EQ(result.exit_code, exit_code) << result.out;
    return result.err;
  };
  EXPECT_THAT(error({"scale"}), HasSubstr("pass --flops"));
  EXPECT_THAT(error({"scale", "--flops", "many"}), HasSubstr("--flops `many` must be a number"));
  EXPECT_THAT(error({"scale", "--flops", "1e99"}), HasSubstr("from 1 to 1e40"));
  EXPECT_THAT(error({"scale", "--flops", "1e21", "--tokens", "1B"}),
              HasSubstr("which determine the FLOPs"));
  EXPECT_THAT(error({"scale", "--flops", "5", "--like", "llama3-8b"}),
              HasSubstr("FLOPs are not enough to train the smallest"));
  EXPECT_THAT(error({"cost", "--device", "H100"}), HasSubstr("--parameters and --tokens"));
  EXPECT_THAT(error({"cost", "llama3-8b", "--tokens", "1T", "--device", "H100"}),
              HasSubstr("--set train.tokens"));
  EXPECT_THAT(error({"cost", "llama3-8b"}), HasSubstr("--device"));
  EXPECT_THAT(error({"cost", "llama3-8b", "--device", "RTX"}), HasSubstr("unknown device"));
  EXPECT_THAT(error({"cost", "llama3.1-405b", "--device", "A10G", "--nodes", "1"}, 1),
              HasSubstr("no layout fits"));
  EXPECT_THAT(error({"cost", "--parameters", "7B", "--tokens", "1T", "--device", "V100"}),
              HasSubstr("does not support bf16"));
}

TEST_F(CostTest, RunsThatCannotBeTrainedHaveACostToo) {
  const CliResult result = Run({"cost", "mixtral-8x7b", "--device", "H100", "--nodes", "8"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Cost of mixtral-8x7b, 210B tokens on 8 nodes of 8 H100"));
  EXPECT_THAT(result.out, HasSubstr("ep: "));
}

TEST_F(CostTest, WritesFiguresOfGoodputAndOfScaling) {
  const std::string figure = WriteFile("figure.svg", "");
  const auto text = [&figure] { return ReadFile(figure); };
  EXPECT_EQ(
      Run({"cost", "--parameters", "7B", "--tokens", "1T", "--device", "H100", "--svg", figure})
          .exit_code,
      0);
  EXPECT_THAT(text(), HasSubstr("Goodput as a function of the checkpoint interval"));
  EXPECT_EQ(Run({"scale", "--flops", "1e21", "--svg", figure}).exit_code, 0);
  EXPECT_THAT(text(), HasSubstr("Loss as a function of compute, near 1e+21 FLOP"));
}

TEST_F(CostTest, PlanSaysWhichGpuHasNoKnownPrice) {
  EXPECT_THAT(Run({"plan", "llama3-1.5b", "--device", "A6000", "--nodes", "1"}).out,
              HasSubstr("no price is known for the A6000"));
}

}  // namespace
}  // namespace trainyard::cli
