// Tests `recipe new`.
#include "gmock/gmock.h"
#include "tests/cli/commands/recipes/recipes_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RecipeNewTest : public RecipesFixture {};

TEST_F(RecipeNewTest, NewFitsARecipeToOtherHardware) {
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

TEST_F(RecipeNewTest, NewTakesASizeARuleAndABatch) {
  const CliResult nearest = Run({"recipe", "new", "--like", "3B", "--nodes", "2", "--device",
                                 "A100", "--lr-rule", "linear", "--name", "mine"});
  EXPECT_THAT(nearest.err, HasSubstr("raises the learning rate to 0.0024")) << nearest.out;
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

TEST_F(RecipeNewTest, NewRefusesALearningRateThatNoRunHas) {
  const CliResult far = Run({"recipe", "new", "--like", "llama3-8b", "--nodes", "512", "--device",
                             "H100", "--lr-rule", "linear"});
  EXPECT_EQ(far.exit_code, 2);
  EXPECT_THAT(far.out, IsEmpty());
  EXPECT_THAT(far.err,
              AllOf(HasSubstr("raises the learning rate to 0.154"),
                    HasSubstr("0.0003 for the reference batch of 128 samples, times 512"),
                    HasSubstr("no published run of a model of this size uses more than 0.00115"),
                    HasSubstr("--lr-rule sqrt or --lr-rule keep")));
}

TEST_F(RecipeNewTest, NewRefusesWhatItCannotMake) {
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
  EXPECT_THAT(error({"llama3-8b", "--device", "V100"}, 2), HasSubstr("does not support bf16"));
  EXPECT_THAT(error({"mixtral-8x7b", "--device", "H100", "--nodes", "1"}, 1),
              HasSubstr("no layout fits into 1 node of 8 H100"));
  EXPECT_THAT(error({"llama3-9b", "--device", "H100"}, 3), HasSubstr("did you mean"));
  EXPECT_THAT(error({"llama3-8b"}, 2), HasSubstr("--device"));
}

TEST_F(RecipeNewTest, NewTakesFp8WhereTheDeviceHasIt) {
  const CliResult same =
      Run({"recipe", "new", "--like", "llama3-8b-fp8", "--device", "H200", "--nodes", "2"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  for (const char* part :
       {"extends: llama3-8b-fp8\n", "name: llama3-8b-fp8-2x8-h200\n",
        "resources: {nodes: 2, slots_per_node: 8}\n",
        "train: {global_batch: 256, samples: 12800000}\n",
        "# Expected on H200: 2 x 8 (ndr), 8030261248 parameters"}) {
    EXPECT_THAT(same.out, HasSubstr(part));
  }
  const std::string file = WriteFile("new.yaml", same.out);
  const CliResult check = Run({"recipe", "check", file});
  EXPECT_EQ(check.exit_code, 0) << check.out;
  const CliResult wide = Run({"recipe", "new", "--like", "llama3-8b-fp8", "--device", "A100"});
  EXPECT_EQ(wide.exit_code, 0) << wide.err;
  EXPECT_THAT(wide.err,
              HasSubstr("the A100 does not support FP8, so the new recipe trains in bf16"));
  EXPECT_THAT(wide.out, HasSubstr("fp8: none"));
  EXPECT_EQ(Run({"recipe", "check", WriteFile("wide.yaml", wide.out)}).exit_code, 0);
}

TEST_F(RecipeNewTest, NewSpreadsExpertsOverOtherClusters) {
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
