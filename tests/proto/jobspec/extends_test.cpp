// Tests job files that extend other files: merging, overrides, recipes and run lengths.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/recipe_files.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ExtendsTest, ExtendsMergesMapsReplacesListsAndClearsWithNull) {
  const auto resolved = ResolveJobFile(
      "job.yaml", {},
      ReaderOf({{"base", "name: base\ncommand: [a, b]\nenv: {X: 1, Y: 2}\ntrain: {seed: 1}\n"},
                {"job.yaml",
                 "extends: base\nname: mine\ncommand: [c]\nenv: {Y: 3}\n"
                 "train: {seed: null}\n"}}));
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.name(), "mine");
  EXPECT_THAT(resolved->spec.command(), ElementsAre("c"));
  EXPECT_EQ(resolved->spec.env().at("X"), "1");
  EXPECT_EQ(resolved->spec.env().at("Y"), "3");
  EXPECT_EQ(resolved->spec.train().seed(), 1234u) << "null brings the default back";
  EXPECT_EQ(resolved->origins.at("env.X"), "base:3:10");
  EXPECT_EQ(resolved->spec.extends_size(), 0);
}

TEST(ExtendsTest, NullRemovesAVariable) {
  const auto resolved = ResolveJobFile(
      "job.yaml", {},
      ReaderOf({{"base", "name: base\ncommand: [a]\nenv: {X: 1, Y: 2, Z: null}\n"},
                {"job.yaml", "extends: base\nname: mine\nenv: {X: null, HOME: ~, Z: 3}\n"}}));
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_THAT(resolved->spec.env(),
              testing::UnorderedElementsAre(testing::Pair("Y", "2"), testing::Pair("Z", "3")));
  EXPECT_THAT(resolved->spec.unset_env(), ElementsAre("X", "HOME"));
  EXPECT_FALSE(resolved->origins.contains("env.X"));
  EXPECT_THAT(resolved->origins.at("unset_env"), HasSubstr("job.yaml:3:"));
}

TEST(ExtendsTest, ABlendReplacesThePathOfAnExtendedFile) {
  const std::string blend =
      "extends: base\ndata: {blend: [0.7 /a, 0.3 b/c], blend_stages: [9 c=1]}\n";
  const auto resolved =
      ResolveJobFile("job.yaml", {}, ReaderOf({{"base", kModelJob}, {"job.yaml", blend}}));
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_FALSE(resolved->spec.data().has_path());
  EXPECT_EQ(resolved->spec.data().blend(0), "0.7 /a");
  EXPECT_THAT(resolved->spec.data().blend(1), testing::MatchesRegex("0.3 /.*/b/c"))
      << "relative paths count from the file";
  EXPECT_THAT(resolved->spec.data().blend_stages(), ElementsAre("9 c=1"));
  const auto again = ResolveJobFile("job.yaml", {"data.path=/d"},
                                    ReaderOf({{"base", kModelJob}, {"job.yaml", blend}}));
  EXPECT_EQ(again->spec.data().blend_size(), 0);
  EXPECT_EQ(again->spec.data().blend_stages_size(), 0);
  EXPECT_EQ(again->spec.data().path(), "/d");
  const auto listed = Resolve(kModelJob, {"data.blend=[1 /x, 2 /y]", "evaluation.sets=[code /z]"});
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_THAT(listed->spec.data().blend(), ElementsAre("1 /x", "2 /y"));
  EXPECT_THAT(listed->spec.evaluation().sets(), ElementsAre("code /z"));
  EXPECT_EQ(listed->origins.at("data.blend"), "--set data.blend");
}

TEST(ExtendsTest, OverridesSetAndRemoveVariables) {
  const std::string file = std::string(kCommandJob) + "env: {X: 1, Y: 2}\n";
  const auto resolved = Resolve(
      file, {"env.X=a=b", "env.Y=null", "env.NEW=[1]", "env.EMPTY=", "env.W=null", "env.W=back"});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_THAT(resolved->spec.env(), testing::UnorderedElementsAre(
                                        testing::Pair("X", "a=b"), testing::Pair("NEW", "[1]"),
                                        testing::Pair("EMPTY", ""), testing::Pair("W", "back")));
  EXPECT_THAT(resolved->spec.unset_env(), ElementsAre("Y"));
  EXPECT_EQ(resolved->origins.at("env.X"), "--set env.X");
  EXPECT_THAT(Errors(file, {"env.A.B=1"}),
              ElementsAre(HasSubstr("not the name of an environment")));
  EXPECT_THAT(Errors(file, {"env.=1"}), ElementsAre(HasSubstr("not the name of an environment")));
}

TEST(ExtendsTest, RefusesCircles) {
  const auto resolved = ResolveJobFile(
      "a.yaml", {}, ReaderOf({{"a.yaml", "extends: b.yaml\n"}, {"b.yaml", "extends: a.yaml\n"}}));
  EXPECT_THAT(resolved.status().message(), HasSubstr("circular"));
}

TEST(ExtendsTest, RefusesBadOverrides) {
  EXPECT_THAT(
      Errors(kCommandJob, {"train.stpes=5"}),
      ElementsAre("--set train.stpes: unknown key `train.stpes`; did you mean `train.steps`?"));
  EXPECT_THAT(Errors(kCommandJob, {"train.steps"}),
              ElementsAre(HasSubstr("must have the form KEY=VALUE")));
  EXPECT_THAT(Errors(kCommandJob, {"train.steps=abc"}), ElementsAre(HasSubstr("whole number")));
  EXPECT_THAT(Errors(kCommandJob, {"env.A=\xB6"}),
              ElementsAre(HasSubstr("is not UTF-8 text (byte 6)")));
  EXPECT_THAT(Errors(kCommandJob, {"resources.nodes=0"}), ElementsAre(HasSubstr("at least 1")));
  EXPECT_THAT(Errors(kCommandJob, {"extends=nope"}),
              ElementsAre("--set extends: `extends` is read before any --set; write `extends: "
                          "nope` into the job file, or pass `nope` instead of the job file"));
}

TEST(ExtendsTest, FindsRecipesByNameAndNamesTheNearest) {
  const JobFileReader reader = FileSystemReader({RECIPES_DIRECTORY});
  const auto missing = ResolveJobFile("llama-tiny-cpuu", {}, reader);
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(missing.status().message(), HasSubstr("did you mean `llama-tiny-cpu`?"));
  EXPECT_EQ(ResolveJobFile("./none.yaml", {}, reader).status().code(), absl::StatusCode::kNotFound);
}

TEST(ExtendsTest, EveryRecipeResolves) {
  const JobFileReader reader = FileSystemReader({RECIPES_DIRECTORY});
  int recipes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RECIPES_DIRECTORY)) {
    if (entry.path().extension() != ".yaml") continue;
    ++recipes;
    const auto resolved = ResolveJobFile(entry.path().stem(), {"data.path=/tokens"}, reader);
    EXPECT_TRUE(resolved.ok()) << entry.path() << ": " << resolved.status();
  }
  EXPECT_GT(recipes, 0);
}

// A client may name a recipe. The name must not let the client read any other file of the machine.
TEST(ExtendsTest, ARecipeByNameIsNoPath) {
  const JobFileReader reader = RecipeReader({RECIPES_DIRECTORY});
  EXPECT_TRUE(ResolveJobFile("llama3-70b-tp8-pp4", {}, reader).ok()) << "it extends another one";
  for (const char* path : {"/etc/passwd", "../recipes/gpt-7b", "gpt-7b.yaml"}) {
    EXPECT_THAT(ResolveJobFile(path, {}, reader).status().message(), HasSubstr("is a path"))
        << path;
  }
}

TEST(ExtendsTest, ListsRecipesWithTheirDescriptions) {
  const std::vector<Recipe> recipes = FindRecipes({RECIPES_DIRECTORY});
  EXPECT_GT(recipes.size(), 20u);
  for (const Recipe& recipe : recipes) EXPECT_FALSE(recipe.description.empty()) << recipe.name;
}

absl::StatusOr<ResolvedSpec> ResolveSent(const std::string& text,
                                         const std::vector<std::string>& overrides = {}) {
  return ResolveJobFile(kSentJobFile, overrides, SentJobFileReader(text, {RECIPES_DIRECTORY}));
}

TEST(SentJobFileTest, ExtendsRecipesByName) {
  const auto resolved = ResolveSent("extends: llama-tiny-cpu\nname: mine\ndata: {path: /tokens}\n",
                                    {"train.steps=70"});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.name(), "mine");
  EXPECT_EQ(resolved->spec.train().steps(), 70);
  EXPECT_EQ(resolved->origins.at("name"), "job file:2:7");
  EXPECT_THAT(resolved->origins.at("model.hidden_size"), HasSubstr("llama-tiny-cpu.yaml"));
}

TEST(SentJobFileTest, ReadsNoFileThatItsSenderNames) {
  for (const char* reference : {"/etc/passwd", "../secret.yaml", "./a", "secret.yaml", "a.json"}) {
    const auto refused =
        ResolveSent(absl::StrCat("extends: ", reference, "\nname: x\ncommand: [a]\n"));
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << reference;
    EXPECT_THAT(refused.status().message(), HasSubstr("by name")) << reference;
  }
  EXPECT_EQ(ResolveSent("extends: 'job file'\nname: x\n").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(SentJobFileTest, HasNoFolderForRelativePaths) {
  const std::string file = "name: x\ncommand: [a]\n";
  for (const auto& refused :
       {ResolveSent(file + "working_directory: here\n"), ResolveSent(file, {"data.path=here"}),
        ResolveSent(file, {"data.blend=[1 here]"})}) {
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.status().message(), HasSubstr("has no folder"));
  }
  const auto absolute = ResolveSent(file + "working_directory: /srv/../here\n");
  ASSERT_TRUE(absolute.ok()) << absolute.status();
  EXPECT_EQ(absolute->spec.working_directory(), "/here");
}

TEST(SentJobFileTest, RecipesAreFoundFromTheProgram) {
  const std::filesystem::path source = std::filesystem::path(RECIPES_DIRECTORY).parent_path();
  EXPECT_THAT(RecipeDirectoriesOf((source / "build/release/bin").string()),
              ElementsAre(RECIPES_DIRECTORY));
  EXPECT_THAT(RecipeDirectoriesOf("/no/such/bin"), ElementsAre());
}

constexpr char kTokensJob[] = "extends: tiny\nname: child\ntrain: {tokens: 1M}\n";

absl::StatusOr<ResolvedSpec> ResolveChild(const std::string& child,
                                          const std::vector<std::string>& overrides = {}) {
  return ResolveJobFile("child", overrides, ReaderOf({{"child", child}, {"tiny", kModelJob}}));
}

TEST(ExtendsTest, TokensOfAChildReplaceTheStepsOfItsParent) {
  const auto resolved = ResolveChild(kTokensJob);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.train().tokens(), 1'000'000);
  EXPECT_EQ(resolved->spec.train().steps(), 3907) << "1e6 tokens of 8 * 32 a step, rounded up";
  EXPECT_EQ(resolved->origins.at("train.steps"), kDerivedOrigin);
  EXPECT_EQ(resolved->origins.at("train.tokens"), "child:3:17");
}

TEST(ExtendsTest, OverridesReplaceTheLengthThatFilesGive) {
  const auto tokens = Resolve(kModelJob, {"train.tokens=512"});
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ(tokens->spec.train().steps(), 2);
  const auto steps = ResolveChild(kTokensJob, {"train.steps=7"});
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_EQ(steps->spec.train().steps(), 7);
  EXPECT_FALSE(steps->spec.train().has_tokens());
  EXPECT_FALSE(steps->origins.contains("train.tokens"));
}

TEST(ExtendsTest, OneFileMayNotGiveTwoLengths) {
  for (const char* train : {"{steps: 5, tokens: 1M}", "{tokens: 1M, steps: 5}"}) {
    const auto resolved =
        ResolveChild(absl::StrCat("extends: tiny\nname: child\ntrain: ", train, "\n"));
    EXPECT_THAT(std::string(resolved.status().message()), HasSubstr("both set; keep one"));
  }
  EXPECT_THAT(Errors(kModelJob, {"train.tokens=1M", "train.steps=5"}),
              ElementsAre(HasSubstr("both set; keep one")));
}

TEST(ExtendsTest, SamplesOfAChildReplaceTheStepsOfItsParent) {
  const auto resolved = ResolveChild("extends: tiny\nname: child\ntrain: {samples: 81}\n");
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.train().samples(), 81);
  EXPECT_EQ(resolved->spec.train().steps(), 11);
  EXPECT_THAT(Errors(kModelJob, {"train.samples=80", "train.tokens=1M"}),
              ElementsAre(HasSubstr("`train.samples` are both set; keep one")));
}

TEST(ExtendsTest, ALengthOfTheWarmUpReplacesTheParents) {
  const std::string parent = absl::StrCat(kModelJob, "schedule: {warmup_steps: 5}\n");
  const auto resolved = Resolve(parent, {"schedule.warmup_fraction=0.25"});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.schedule().warmup_fraction(), 0.25);
  EXPECT_EQ(resolved->spec.schedule().warmup_steps(), 0);
  EXPECT_THAT(Errors(parent, {"schedule.warmup_fraction=0.1", "schedule.warmup_samples=4"}),
              ElementsAre(HasSubstr("`schedule.warmup_fraction` are both set; keep one")));
}

}  // namespace
}  // namespace trainyard
