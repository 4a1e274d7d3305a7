#include "proto/jobspec/loader.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/normal_path.h"
#include "proto/jobspec/defaults.h"
#include "proto/jobspec/recipe_files.h"
#include "proto/jobspec/rules.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Files by name, in memory.
using Files = std::map<std::string, std::string>;

JobFileReader ReaderOf(Files files) {
  return [files = std::move(files)](const std::string& reference,
                                    const std::string&) -> absl::StatusOr<JobFileText> {
    const auto file = files.find(reference);
    if (file == files.end()) return absl::NotFoundError("no file " + reference);
    return JobFileText{reference, file->second};
  };
}

absl::StatusOr<ResolvedSpec> Resolve(const std::string& text,
                                     const std::vector<std::string>& overrides = {}) {
  return ResolveJobFile("job.yaml", overrides, ReaderOf({{"job.yaml", text}}));
}

std::vector<std::string> Errors(const std::string& text,
                                const std::vector<std::string>& overrides = {}) {
  const auto resolved = Resolve(text, overrides);
  if (resolved.ok()) return {};
  EXPECT_EQ(resolved.status().code(), absl::StatusCode::kInvalidArgument);
  return absl::StrSplit(std::string(resolved.status().message()), '\n');
}

constexpr char kCommandJob[] = "name: hello\ncommand: [python3, a.py]\n";

constexpr char kModelJob[] = R"(name: tiny
resources: {nodes: 2, device: cpu}
model: {num_layers: 2, hidden_size: 64, ffn_hidden_size: 128, num_attention_heads: 4,
        vocab_size: 256}
data: {path: /data}
train: {seq_length: 32, global_batch: 8, steps: 10}
)";

TEST(JobSpecLoaderTest, CheckpointsAreNoFilesOfTheKernel) {
  for (const char* path : {"/proc/self/root/data", "/../proc/1/root/x", "/x/..//./proc/self/cwd",
                           "/sys/fs/cgroup/x", "/dev/disk"}) {
    for (const char* key : {"checkpoint.dir", "checkpoint.resume_from"}) {
      EXPECT_THAT(
          Errors(kModelJob, {absl::StrCat(key, "=", path)}),
          ElementsAre(testing::AllOf(HasSubstr(absl::StrCat("`", key, "` is ", NormalPath(path))),
                                     HasSubstr("use a directory on a disk"))))
          << path;
    }
  }
  for (const char* path : {"/processed/run", "/data/proc/self", "/dev/shm/run", "/system"}) {
    EXPECT_THAT(Errors(kModelJob, {absl::StrCat("checkpoint.dir=", path)}), ElementsAre()) << path;
  }
}

TEST(JobSpecLoaderTest, AProgramWithoutItsCommandIsToldSo) {
  const std::vector<std::string> errors = Errors("name: mine\nresources: {device: cpu}\n");
  ASSERT_THAT(errors, ElementsAre(HasSubstr("`command` is missing")));
  EXPECT_THAT(errors[0], HasSubstr("command: [python3, train.py]"));
  EXPECT_THAT(errors[0], HasSubstr("extends: llama-tiny-cpu"));
  // A run of trainyard-trainer is told what it lacks.
  EXPECT_THAT(Errors("name: mine\ntrain: {steps: 3}\n"),
              testing::Contains("`model.num_layers` is missing"));
}

TEST(JobSpecLoaderTest, ReadsScalarsByTheTypeOfTheirField) {
  const auto resolved = Resolve(std::string(kModelJob) + R"(optimizer: {lr: 3e-4}
checkpoint: {every_steps: 1e3, async: false}
restart: {backoff: 1m30s}
description: no
)");
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_DOUBLE_EQ(resolved->spec.optimizer().lr(), 3e-4);
  EXPECT_EQ(resolved->spec.checkpoint().every_steps(), 1000);
  EXPECT_FALSE(resolved->spec.checkpoint().async());
  EXPECT_EQ(resolved->spec.restart().backoff().seconds(), 90);
  EXPECT_EQ(resolved->spec.description(), "no");
}

TEST(JobSpecLoaderTest, FillsDefaultsAndDerivedValuesWithTheirOrigin) {
  const auto resolved = Resolve(kModelJob, {"train.steps=20"});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.layout().dp(), 2);
  EXPECT_EQ(resolved->spec.model().num_query_groups(), 4);
  EXPECT_EQ(resolved->spec.train().steps(), 20);
  EXPECT_EQ(resolved->origins.at("layout.dp"), "derived");
  EXPECT_FALSE(resolved->origins.contains("optimizer.lr")) << "a default";
  EXPECT_EQ(resolved->origins.at("train.steps"), "--set train.steps");
  EXPECT_EQ(resolved->origins.at("data.path"), "job.yaml:5:14");
}

TEST(JobSpecLoaderTest, TokensBecomeWholeSteps) {
  const auto resolved = Resolve(kModelJob, {"train.steps=null", "train.tokens=1K"});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.train().steps(), 4) << "1000 / (8 * 32) rounded up";
}

TEST(JobSpecLoaderTest, ReportsEveryErrorWithItsPlace) {
  EXPECT_THAT(Errors("name: Bad Name\ncommand: [a]\ntrain:\n  stpes: 5\n  seed: -1\nnodes: 2\n"),
              ElementsAre("job.yaml:4:3: unknown key `train.stpes`; did you mean `train.steps`?",
                          "job.yaml:5:9: `train.seed` must not be negative, got \"-1\"",
                          "job.yaml:6:1: unknown key `nodes`; did you mean `resources.nodes`?",
                          HasSubstr("job.yaml:1:7: `name` is \"Bad Name\"")));
}

TEST(JobSpecLoaderTest, RefusesDuplicatesTagsAndWrongShapes) {
  EXPECT_THAT(Errors("name: a\nname: b\ncommand: [x]\n"),
              ElementsAre("job.yaml:2:1: `name` is written twice"));
  EXPECT_THAT(Errors("name: !!binary aGk=\ncommand: [x]\n"), ElementsAre(HasSubstr("tags")));
  EXPECT_THAT(Errors("name: a\ncommand: x\n"), ElementsAre(HasSubstr("must be a list")));
  EXPECT_THAT(Errors("name: {a: b}\ncommand: [x]\n"), ElementsAre(HasSubstr("one value")));
  EXPECT_THAT(Errors("name: a\ncommand: [x]\ntrain: 5\n"), ElementsAre(HasSubstr("mapping")));
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nenv: {CUDA_VISIBLE_DEVICES: 1}\n"),
              ElementsAre(HasSubstr("set by the worker")));
}

TEST(JobSpecLoaderTest, SecretsAreNamedAndNeverWrittenDown) {
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nsecrets: [WANDB_API_KEY]\nenv: {EOS_TOKEN: </s>}\n"),
              testing::IsEmpty());
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nenv: {HF_TOKEN: hf_0123456789}\n"),
              ElementsAre(testing::AllOf(HasSubstr("job.yaml:3:"), HasSubstr("secrets: [HF_TOKEN]"),
                                         testing::Not(HasSubstr("hf_0123456789")))));
  for (const char* clear :
       {"{ALERT_WEBHOOK_URL: https://chat.example/x}", "{SERVICE_CREDENTIALS: abcdefgh}",
        "{PROXY: 'http://me:hush@proxy.example:8080'}", "{NOTE: hf_abcdefghijklmnopqrst}"}) {
    EXPECT_THAT(Errors(absl::StrCat("name: a\ncommand: [x]\nenv: ", clear, "\n")),
                ElementsAre(HasSubstr("looks like a secret")))
        << clear;
  }
  EXPECT_THAT(Errors("name: a\ncommand: [x, --key, sk-abcdefghijklmnop1234]\n"),
              ElementsAre(testing::AllOf(HasSubstr("a word of `command` looks like a secret"),
                                         testing::Not(HasSubstr("sk-abc")))));
  EXPECT_THAT(Errors("name: a\ncommand: [x, 'http://proxy.example:8080/a@b', --lr=1e-3]\n"
                     "env: {SORT_KEY: validation_loss, TASK: sk-learn}\n"),
              testing::IsEmpty());
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nsecrets: [../../etc/shadow]\n"),
              ElementsAre(HasSubstr("an entry must match")));
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nsecrets: [A, A]\n"), ElementsAre(HasSubstr("twice")));
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nsecrets: [TRAINYARD_SPEC]\n"),
              ElementsAre(HasSubstr("the worker sets")));
  EXPECT_THAT(Errors("name: a\ncommand: [x]\nsecrets: [A]\nenv: {A: b}\n"),
              ElementsAre(HasSubstr("keep one of them")));
}

TEST(JobSpecLoaderTest, RefusesWhatIsNoJobFile) {
  EXPECT_THAT(Errors(""), ElementsAre("job.yaml: is empty"));
  EXPECT_THAT(Errors("- a\n"), ElementsAre(HasSubstr("must be a mapping")));
  EXPECT_THAT(Errors("a: 1\n---\nb: 2\n"), ElementsAre(HasSubstr("several YAML documents")));
  EXPECT_THAT(Errors("name: \xFF\n"), ElementsAre(HasSubstr("not UTF-8 text (byte 6)")));
  EXPECT_THAT(Errors(std::string("name: a\0b\n", 10)), ElementsAre(HasSubstr("NUL")));
  EXPECT_THAT(Errors(std::string(kMaxJobFileBytes + 1, '#')), ElementsAre(HasSubstr("1 MiB")));
  EXPECT_THAT(Errors("name: a\ntrain:\n\tsteps: 1\n"), ElementsAre(HasSubstr("tab")));
  EXPECT_THAT(Errors("name: [a\n"), ElementsAre(HasSubstr("job.yaml:")));
  EXPECT_FALSE(Errors(std::string(200000, '[')).empty()) << "deep nesting";
}

TEST(JobSpecLoaderTest, SurvivesAliasesThatMultiply) {
  std::string text = "name: a\ncommand: [x]\nenv:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string previous = "*a" + std::to_string(i - 1);
    text += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + previous;
    for (int j = 0; j < 9; ++j) text += ", " + previous;
    text += "]\n";
  }
  EXPECT_FALSE(Errors(text).empty());
}

TEST(JobSpecLoaderTest, ExtendsMergesMapsReplacesListsAndClearsWithNull) {
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

TEST(JobSpecLoaderTest, NullRemovesAVariable) {
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

TEST(JobSpecLoaderTest, ABlendReplacesThePathOfAnExtendedFile) {
  const std::string blend = "extends: base\ndata: {blend: [0.7 /a, 0.3 b/c]}\n";
  const auto resolved =
      ResolveJobFile("job.yaml", {}, ReaderOf({{"base", kModelJob}, {"job.yaml", blend}}));
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_FALSE(resolved->spec.data().has_path());
  EXPECT_EQ(resolved->spec.data().blend(0), "0.7 /a");
  EXPECT_THAT(resolved->spec.data().blend(1), testing::MatchesRegex("0.3 /.*/b/c"))
      << "relative paths count from the file";
  const auto again = ResolveJobFile("job.yaml", {"data.path=/d"},
                                    ReaderOf({{"base", kModelJob}, {"job.yaml", blend}}));
  EXPECT_EQ(again->spec.data().blend_size(), 0);
  EXPECT_EQ(again->spec.data().path(), "/d");
  const auto listed = Resolve(kModelJob, {"data.blend=[1 /x, 2 /y]", "evaluation.sets=[code /z]"});
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_THAT(listed->spec.data().blend(), ElementsAre("1 /x", "2 /y"));
  EXPECT_THAT(listed->spec.evaluation().sets(), ElementsAre("code /z"));
  EXPECT_EQ(listed->origins.at("data.blend"), "--set data.blend");
}

TEST(JobSpecLoaderTest, RefusesAPathBesideABlendAndBadEntries) {
  const std::string both =
      absl::StrReplaceAll(kModelJob, {{"path: /data", "path: /data, blend: [1 /a]"}});
  EXPECT_THAT(Errors(both), testing::Contains(HasSubstr("are both given; keep one")));
  EXPECT_THAT(Errors(kModelJob, {"data.blend=[1]"}),
              testing::Contains(HasSubstr("a weight above 0, a space and a path")));
  EXPECT_THAT(Errors(kModelJob, {"data.blend=[[1, /a]]"}),
              testing::Contains(HasSubstr("must be one value, not a list")));
  EXPECT_THAT(Errors(kModelJob, {"evaluation.sets=[code /a, code /b]"}),
              testing::Contains(HasSubstr("names `code` twice")));
}

TEST(JobSpecLoaderTest, OverridesSetAndRemoveVariables) {
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

TEST(JobSpecLoaderTest, WhatTheWorkerMustSetCannotBeRemoved) {
  const std::string ranks = "name: a\ncommand: [x]\nresources: {slots_per_node: 2}\n";
  EXPECT_THAT(Errors(ranks + "env: {MASTER_PORT: null}\n"),
              ElementsAre(HasSubstr("`torchrun_env: false` removes all")));
  EXPECT_THAT(Errors(ranks + "env: {CUDA_VISIBLE_DEVICES: null}\n"),
              ElementsAre(HasSubstr("every rank needs it")));
  EXPECT_THAT(Errors(ranks + "env: {A: 1}\nunset_env: [A]\n"),
              ElementsAre(HasSubstr("keep one of them")));
  EXPECT_THAT(Errors(ranks + "env: {A: null}\nunset_env: [B]\n"),
              ElementsAre(HasSubstr("keep one form")));
  EXPECT_THAT(Errors(ranks + "env: {'A-B': null}\n"), ElementsAre(HasSubstr("must match")));
}

TEST(JobSpecLoaderTest, TorchrunVariablesAreForJobsOfSeveralRanks) {
  const auto asks = [](const std::string& file, const std::vector<std::string>& overrides) {
    const auto resolved = Resolve(file, overrides);
    EXPECT_TRUE(resolved.ok()) << resolved.status();
    return resolved.ok() && resolved->spec.torchrun_env();
  };
  EXPECT_FALSE(asks(kCommandJob, {}));
  EXPECT_TRUE(asks(kCommandJob, {"resources.nodes=2"}));
  EXPECT_TRUE(asks(kCommandJob, {"torchrun_env=true"}));
  EXPECT_FALSE(asks(kCommandJob, {"resources.slots_per_node=2", "torchrun_env=false"}));
  EXPECT_TRUE(asks(kModelJob, {"resources.nodes=1"})) << "trainyard-trainer";
  EXPECT_THAT(Errors(kModelJob, {"torchrun_env=false"}),
              ElementsAre(HasSubstr("trainyard-trainer finds its peers")));
  EXPECT_EQ(Resolve(kCommandJob)->origins.at("torchrun_env"), kDerivedOrigin);
  // The worker does not set it, so the job may.
  EXPECT_TRUE(Errors(kCommandJob, {"env.RANK=0"}).empty());
  EXPECT_THAT(Errors(kCommandJob, {"env.RANK=0", "resources.nodes=2"}),
              ElementsAre(HasSubstr("set by the worker")));
}

TEST(JobSpecLoaderTest, EachKindOfLogParserHasItsRank) {
  const auto rank = [](const std::string& kind) {
    const auto resolved = Resolve(kCommandJob, {"resources.nodes=2", "log_parser.kind=" + kind});
    EXPECT_TRUE(resolved.ok()) << resolved.status();
    return resolved->spec.log_parser();
  };
  EXPECT_EQ(rank("megatron").rank(), -1);
  EXPECT_EQ(rank("torchtitan").rank(), 0);
  EXPECT_TRUE(rank("torchtitan").has_rank());
  EXPECT_FALSE(rank("none").has_rank());
  const std::vector<std::string> nodes = {"resources.nodes=2", "log_parser.kind=megatron"};
  const auto with_rank = [&](const std::string& text) {
    std::vector<std::string> overrides = nodes;
    overrides.push_back("log_parser.rank=" + text);
    return Errors(kCommandJob, overrides);
  };
  EXPECT_THAT(with_rank("0"), testing::IsEmpty());
  EXPECT_THAT(with_rank("1"), testing::IsEmpty());
  EXPECT_THAT(with_rank("2"), ElementsAre(HasSubstr("the last rank of the job is 1")));
  EXPECT_THAT(with_rank("-2"), ElementsAre(HasSubstr("at least -1")));
}

TEST(JobSpecLoaderTest, RefusesCircles) {
  const auto resolved = ResolveJobFile(
      "a.yaml", {}, ReaderOf({{"a.yaml", "extends: b.yaml\n"}, {"b.yaml", "extends: a.yaml\n"}}));
  EXPECT_THAT(resolved.status().message(), HasSubstr("circular"));
}

TEST(JobSpecLoaderTest, RefusesLayoutsThatDoNotMultiplyOut) {
  EXPECT_THAT(Errors(kModelJob, {"layout.dp=3"}),
              ElementsAre(testing::AllOf(HasSubstr("= 3 ranks"), HasSubstr("the gang has 2")),
                          HasSubstr("layout.micro_batch * dp")));
  EXPECT_THAT(Errors(kModelJob, {"train.global_batch=7"}), ElementsAre(HasSubstr("multiple of")));
  EXPECT_THAT(Errors(kModelJob, {"model.num_attention_heads=5"}),
              testing::Contains(HasSubstr("model.hidden_size")));
}

TEST(JobSpecLoaderTest, RefusesBadOverrides) {
  EXPECT_THAT(
      Errors(kCommandJob, {"train.stpes=5"}),
      ElementsAre("--set train.stpes: unknown key `train.stpes`; did you mean `train.steps`?"));
  EXPECT_THAT(Errors(kCommandJob, {"train.steps"}), ElementsAre(HasSubstr("must look like")));
  EXPECT_THAT(Errors(kCommandJob, {"train.steps=abc"}), ElementsAre(HasSubstr("whole number")));
  EXPECT_THAT(Errors(kCommandJob, {"env.A=\xB6"}),
              ElementsAre(HasSubstr("is not UTF-8 text (byte 6)")));
  EXPECT_THAT(Errors(kCommandJob, {"resources.nodes=0"}), ElementsAre(HasSubstr("at least 1")));
  EXPECT_THAT(Errors(kCommandJob, {"extends=nope"}),
              ElementsAre("--set extends: `extends` is read before any --set; write `extends: "
                          "nope` into the job file, or pass `nope` instead of the job file"));
}

TEST(JobSpecLoaderTest, RelativePathsCountFromTheirFile) {
  const auto resolved = ResolveJobFile(
      "/jobs/x/job.yaml", {"checkpoint.dir=ck"},
      ReaderOf({{"/jobs/x/job.yaml", std::string(kCommandJob) + "data: {path: ../tokens}\n"}}));
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.data().path(), "/jobs/tokens");
  EXPECT_EQ(resolved->spec.checkpoint().dir(), std::filesystem::current_path().string() + "/ck");
}

TEST(JobSpecLoaderTest, LogParserPatternsAreChecked) {
  const std::string regex = "log_parser.kind=regex";
  EXPECT_THAT(Errors(kCommandJob, {regex}), ElementsAre(HasSubstr("is missing")));
  EXPECT_THAT(Errors(kCommandJob, {regex, "log_parser.pattern=(?P<loss>x"}),
              ElementsAre(HasSubstr("not valid")));
  EXPECT_THAT(Errors(kCommandJob, {regex, "log_parser.pattern=(?P<loss>x)"}),
              ElementsAre(HasSubstr("(?P<step>")));
  EXPECT_THAT(Errors(kCommandJob, {regex, "log_parser.pattern=(?P<step>\\d+)"}), ElementsAre());
}

TEST(JobSpecLoaderTest, RulesOfFailuresAreChecked) {
  EXPECT_THAT(Errors(kCommandJob, {"restart.rules=[retry reset by peer, 'fail x => y']"}),
              ElementsAre());
  EXPECT_THAT(Errors(kCommandJob, {"restart.rules=[fail (x]"}),
              ElementsAre(HasSubstr("`restart.rules` contains \"fail (x\": its pattern is not")));
}

TEST(JobSpecLoaderTest, SparesNeedATrainerThatHealsAndPeersWithTheState) {
  EXPECT_THAT(Errors(kModelJob, {"restart.spares=2"}), ElementsAre());
  EXPECT_THAT(Errors(kCommandJob, {"restart.spares=1", "resources.nodes=2"}),
              ElementsAre(HasSubstr("`restart.spares` is 1, but only trainyard-trainer heals")));
  EXPECT_THAT(Errors(kModelJob, {"restart.spares=1", "resources.nodes=1"}),
              ElementsAre(HasSubstr("a gang of one node has no surviving ranks")));
  EXPECT_THAT(Errors(kModelJob, {"restart.spares=1", "evaluation.only=true"}),
              testing::Contains(HasSubstr("an evaluation does not heal in place")));
  EXPECT_THAT(Errors(kModelJob, {"restart.spares=1", "layout=auto"}),
              ElementsAre(HasSubstr("with `layout: auto` a job that loses nodes")));
}

TEST(JobSpecLoaderTest, GuardSettingsThatContradictEachOtherAreRefused) {
  EXPECT_THAT(Errors(kCommandJob, {"guard.window=5"}),
              ElementsAre(HasSubstr("`guard.min_points` is 10, but the window never holds more "
                                    "than `guard.window`, 5; lower it")));
  EXPECT_THAT(Errors(kCommandJob, {"guard.spike_ratio=0.9"}),
              ElementsAre(HasSubstr("so that every loss would be a spike")));
  EXPECT_THAT(Errors(kCommandJob, {"guard.spike_ratio=0", "guard.policy=lower_lr"}), ElementsAre());
  EXPECT_THAT(Errors(kCommandJob, {"guard.policy=undo"}),
              ElementsAre(HasSubstr("alert, skip, lower_lr, stop")));
}

TEST(JobSpecLoaderTest, FindsRecipesByNameAndNamesTheNearest) {
  const JobFileReader reader = FileSystemReader({RECIPES_DIRECTORY});
  const auto missing = ResolveJobFile("llama-tiny-cpuu", {}, reader);
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(missing.status().message(), HasSubstr("did you mean `llama-tiny-cpu`?"));
  EXPECT_EQ(ResolveJobFile("./none.yaml", {}, reader).status().code(), absl::StatusCode::kNotFound);
}

TEST(JobSpecLoaderTest, EveryRecipeResolves) {
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

// A client names a recipe, and must not read any other file of the machine.
TEST(JobSpecLoaderTest, ARecipeByNameIsNoPath) {
  const JobFileReader reader = RecipeReader({RECIPES_DIRECTORY});
  EXPECT_TRUE(ResolveJobFile("llama3-70b-tp8-pp4", {}, reader).ok()) << "it extends another one";
  for (const char* path : {"/etc/passwd", "../recipes/gpt-7b", "gpt-7b.yaml"}) {
    EXPECT_THAT(ResolveJobFile(path, {}, reader).status().message(), HasSubstr("is a path"))
        << path;
  }
}

TEST(JobSpecLoaderTest, ListsRecipesWithTheirDescriptions) {
  const std::vector<Recipe> recipes = FindRecipes({RECIPES_DIRECTORY});
  EXPECT_GT(recipes.size(), 20u);
  for (const Recipe& recipe : recipes) EXPECT_FALSE(recipe.description.empty()) << recipe.name;
}

TEST(JobSpecLoaderTest, ReadsAFileThatBreaksRules) {
  const auto reader = [](const std::string& reference,
                         const std::string&) -> absl::StatusOr<JobFileText> {
    return JobFileText{reference, absl::StrCat(kModelJob, "layout: {ep: 3}\nnoise: 1\n")};
  };
  const auto reading = ReadJobFile("job.yaml", {}, reader);
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_THAT(reading->unreadable, ElementsAre(HasSubstr("unknown key `noise`")));
  EXPECT_THAT(reading->broken_rules, ElementsAre(HasSubstr("must be a multiple of `layout.ep`")));
  EXPECT_EQ(reading->resolved.spec.layout().ep(), 3);
}

// yaml-cpp's own way to read all documents never ends on these.
TEST(JobSpecLoaderTest, TextThatBeginsWithACommaIsRefusedAtOnce) {
  for (const char* text : {",", ", a", ", {\"name\": \"x\"}", "\n,\n"}) {
    EXPECT_THAT(Errors(text), ElementsAre(HasSubstr("begins with a comma"))) << text;
  }
  EXPECT_THAT(Errors("name: a\n---\nname: b\n"), ElementsAre(HasSubstr("several")));
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

TEST(JobSpecLoaderTest, TokensOfAChildReplaceTheStepsOfItsParent) {
  const auto resolved = ResolveChild(kTokensJob);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.train().tokens(), 1'000'000);
  EXPECT_EQ(resolved->spec.train().steps(), 3907) << "1e6 tokens of 8 * 32 a step, rounded up";
  EXPECT_EQ(resolved->origins.at("train.steps"), kDerivedOrigin);
  EXPECT_EQ(resolved->origins.at("train.tokens"), "child:3:17");
}

TEST(JobSpecLoaderTest, OverridesReplaceTheLengthThatFilesGive) {
  const auto tokens = Resolve(kModelJob, {"train.tokens=512"});
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ(tokens->spec.train().steps(), 2);
  const auto steps = ResolveChild(kTokensJob, {"train.steps=7"});
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_EQ(steps->spec.train().steps(), 7);
  EXPECT_FALSE(steps->spec.train().has_tokens());
  EXPECT_FALSE(steps->origins.contains("train.tokens"));
}

TEST(JobSpecLoaderTest, OneFileMayNotGiveTwoLengths) {
  for (const char* train : {"{steps: 5, tokens: 1M}", "{tokens: 1M, steps: 5}"}) {
    const auto resolved =
        ResolveChild(absl::StrCat("extends: tiny\nname: child\ntrain: ", train, "\n"));
    EXPECT_THAT(std::string(resolved.status().message()), HasSubstr("both given; keep one"));
  }
  EXPECT_THAT(Errors(kModelJob, {"train.tokens=1M", "train.steps=5"}),
              ElementsAre(HasSubstr("both given; keep one")));
}

TEST(JobSpecLoaderTest, SamplesOfAChildReplaceTheStepsOfItsParent) {
  const auto resolved = ResolveChild("extends: tiny\nname: child\ntrain: {samples: 81}\n");
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.train().samples(), 81);
  EXPECT_EQ(resolved->spec.train().steps(), 11);
  EXPECT_THAT(Errors(kModelJob, {"train.samples=80", "train.tokens=1M"}),
              ElementsAre(HasSubstr("`train.samples` are both given; keep one")));
}

TEST(JobSpecLoaderTest, ALengthOfTheWarmUpReplacesTheParents) {
  const std::string parent = absl::StrCat(kModelJob, "schedule: {warmup_steps: 5}\n");
  const auto resolved = Resolve(parent, {"schedule.warmup_fraction=0.25"});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.schedule().warmup_fraction(), 0.25);
  EXPECT_EQ(resolved->spec.schedule().warmup_steps(), 0);
  EXPECT_THAT(Errors(parent, {"schedule.warmup_fraction=0.1", "schedule.warmup_samples=4"}),
              ElementsAre(HasSubstr("`schedule.warmup_fraction` are both given; keep one")));
}

TEST(JobSpecLoaderTest, ARunWithoutDataIsConsistentButCannotStart) {
  const auto resolved = Resolve(kModelJob, {"data.path="});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_THAT(CheckLaunch(resolved->spec, resolved->origins),
              ElementsAre(HasSubstr("`data.path` is missing"), HasSubstr("bf16 is for GPUs")));
}

TEST(JobSpecLoaderTest, TheServerChecksASpecThatNoClientChecked) {
  v1::JobSpec spec;
  spec.set_name("x");
  spec.add_command("a");
  Origins origins;
  FillDefaults(spec, origins);
  EXPECT_THAT(CheckJobSpec(spec, {}), ElementsAre());
  spec.mutable_data()->set_path("relative");
  EXPECT_THAT(CheckJobSpec(spec, {}), ElementsAre(HasSubstr("absolute path")));
}

}  // namespace
}  // namespace trainyard
