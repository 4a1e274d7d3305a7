#include "proto/jobspec/loader.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/jobspec/defaults.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(JobSpecLoaderTest, OneWordNamesTheLogParser) {
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{}, {"log_parser=megatron"}, {"log_parser.kind=megatron"}}) {
    const std::string file = set.empty() ? "log_parser: megatron\n" : "log_parser: nanogpt\n";
    const auto resolved = Resolve(absl::StrCat(kCommandJob, file), set);
    ASSERT_TRUE(resolved.ok()) << resolved.status();
    EXPECT_EQ(resolved->spec.log_parser().kind(), v1::LOG_PARSER_KIND_MEGATRON);
    EXPECT_TRUE(resolved->origins.contains("log_parser.kind"));
  }
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "log_parser: nanogtp\n")),
              ElementsAre(HasSubstr("`log_parser.kind`")));
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "log_parser: [nanogpt]\n")),
              ElementsAre(HasSubstr("`log_parser` must be a mapping of keys to values")));
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
  EXPECT_THAT(
      Errors(kModelJob, {"torchrun_env=false"}),
      ElementsAre(HasSubstr("trainyard-trainer needs torchrun's variables to find its peers")));
  EXPECT_EQ(Resolve(kCommandJob)->origins.at("torchrun_env"), kDerivedOrigin);
  // The worker does not set RANK, so the job may set it.
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

TEST(JobSpecLoaderTest, RelativePathsCountFromTheirFile) {
  const auto resolved = ResolveJobFile(
      "/jobs/x/job.yaml", {"checkpoint.dir=ck"},
      ReaderOf({{"/jobs/x/job.yaml", std::string(kCommandJob) + "data: {path: ../tokens}\n"}}));
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->spec.data().path(), "/jobs/tokens");
  EXPECT_EQ(resolved->spec.checkpoint().dir(), std::filesystem::current_path().string() + "/ck");
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

// For these texts, yaml-cpp's own function that reads all documents never returns.
TEST(JobSpecLoaderTest, TextThatBeginsWithACommaIsRefusedAtOnce) {
  for (const char* text : {",", ", a", ", {\"name\": \"x\"}", "\n,\n"}) {
    EXPECT_THAT(Errors(text), ElementsAre(HasSubstr("begins with a comma"))) << text;
  }
  EXPECT_THAT(Errors("name: a\n---\nname: b\n"), ElementsAre(HasSubstr("several")));
}

}  // namespace
}  // namespace trainyard
