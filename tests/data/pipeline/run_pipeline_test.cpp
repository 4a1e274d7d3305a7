// Tests of the steps in one process. tests/cli/data/run_test.cpp has several processes and kills.
#include "data/pipeline/run_pipeline.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "data/prepare/cleaning/decontaminate_data.h"
#include "data/prepare/cleaning/dedup_data.h"
#include "data/prepare/splits/prepare.h"
#include "data/prepare/tokenizers/train_tokenizer.h"
#include "data/prepare/views/mix.h"
#include "data/prepare/views/report_data.h"
#include "data/prepare/views/show_data.h"
#include "proto/files/unique_fd.h"
#include "tests/data/pipeline/pipeline_files.h"

namespace trainyard::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RunPipelineTest : public testing::Test {
 protected:
  absl::StatusOr<std::string> Run(const Ranks& ranks = {}) {
    printed_.clear();
    Progress::Settings settings;
    settings.print = [this](const std::string& text) {
      printed_ += text;
      if (!cancel_at_.empty() && printed_.find(cancel_at_) != std::string::npos) cancelled_ = true;
    };
    settings.seconds = [] { return 0.0; };
    Progress progress(settings);
    return RunPipeline({files_.pipeline()}, ranks, &progress, cancelled_);
  }

  Progress Quiet() {
    return Progress({.is_terminal = false, .print = nullptr, .seconds = [] { return 0.0; }});
  }

  const PipelineFiles files_;
  std::atomic<bool> cancelled_ = false;
  std::string printed_;
  std::string cancel_at_;  // The run is cancelled after it has printed this text.
};

TEST_F(RunPipelineTest, EqualsTheCommands) {
  files_.Write(files_.Text());
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_THAT(*summary, AllOf(HasSubstr("filter          300 documents"),
                              HasSubstr("tokens of gpt2"), HasSubstr("tokens for training")));

  Progress quiet = Quiet();
  DedupOptions dedup;
  dedup.inputs = {files_.out() + "/filter"};
  dedup.out = files_ / "dedup";
  ASSERT_TRUE(DedupData(dedup, &quiet, cancelled_).ok());
  EXPECT_EQ(files_.Lines(files_ / "dedup", "part"), files_.Lines(files_.out() + "/dedup", "part"));
  EXPECT_EQ(files_.Lines(files_ / "dedup", "dropped"),
            files_.Lines(files_.out() + "/dedup", "dropped"));
  EXPECT_NE(files_.Lines(files_.out() + "/dedup", "dropped"), "");

  DecontaminateOptions decontaminate;
  decontaminate.inputs = {files_ / "dedup"};
  decontaminate.against = {files_ / "eval"};
  decontaminate.out = files_ / "decontaminate";
  ASSERT_TRUE(DecontaminateData(decontaminate, &quiet, cancelled_).ok());
  for (const char* stream : {"part", "dropped"}) {
    const std::string lines = files_.Lines(files_ / "decontaminate", stream);
    EXPECT_EQ(lines, files_.Lines(files_.out() + "/decontaminate", stream));
    EXPECT_NE(lines, "");
  }

  TrainTokenizerOptions train;
  train.inputs = {files_.out() + "/decontaminate"};
  train.out = files_ / "tokenizer.json";
  train.vocab_size = 400;
  ASSERT_TRUE(TrainTokenizer(train, &quiet, cancelled_).ok());
  EXPECT_EQ(ReadFile(train.out), ReadFile(files_.out() + "/train_tokenizer/tokenizer.json"));

  PrepareOptions prepare;
  prepare.inputs = {files_.out() + "/decontaminate"};
  prepare.out = files_ / "tokens";
  prepare.tokenizer = train.out;
  prepare.val_fraction = 0.2;
  ASSERT_TRUE(PrepareData(prepare, &quiet, cancelled_).ok());
  for (const char* file : {"train.bin", "train.json", "val.bin", "val.json", "tokenizer.json"}) {
    EXPECT_EQ(ReadFile(files_ / "tokens/" + file), ReadFile(files_.out() + "/tokenize/" + file))
        << file;
  }

  files_.AddFile("mix.yaml", "blend: [0.67 out/tokenize, 0.3 out/code]\n");
  MixOptions mix;
  mix.file = files_ / "mix.yaml";
  mix.out = files_ / "mix";
  mix.tokens = 20'000;
  ASSERT_TRUE(MixData(mix).ok());
  for (const char* file : {"/data.yaml", "/mix.json"}) {
    EXPECT_EQ(ReadFile(mix.out + file), ReadFile(files_.out() + "/mix" + file)) << file;
  }
}

// Both inputs are divided into blocks of a few lines. The place of each document is that of its
// text.
TEST_F(RunPipelineTest, TokenFilesNameTheInputLines) {
  files_.Write(
      "{inputs: in, out: out, block_bytes: 2000, steps: [filter: {rules: rules.yaml}, tokenize: "
      "{tokenizer: byte, val_fraction: 0.3}, tokenize: {name: raw, inputs: [./in], tokenizer: "
      "byte, "
      "val_fraction: 0.3}]}");
  ASSERT_TRUE(Run().ok());
  std::vector<std::string> lines;
  std::istringstream text(ReadFile(files_ / "in/b.jsonl"));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  for (const std::string step : {"tokenize", "raw"}) {
    const size_t places = step == "raw" ? 1 : 2;
    std::set<std::string> seen;
    for (const std::string split : {"train", "val"}) {
      ShowOptions options;
      options.directory = files_.out() + "/" + step;
      for (int number = 1;; ++number) {
        options.document = split + ":" + std::to_string(number);
        const auto shown = ShowDocument(options);
        if (!shown.ok()) break;
        const DocumentOrigins& origins = shown->tokens->origins;
        ASSERT_EQ(origins.origins.size(), places) << origins.problem;
        const std::string place = origins.origins.back().place;
        EXPECT_TRUE(seen.insert(place).second) << place;
        if (!place.starts_with(files_ / "in/b.jsonl:")) continue;
        const std::string& line = lines.at(std::stoul(place.substr(place.rfind(':') + 1)) - 1);
        EXPECT_EQ(line, "{\"text\": \"" + shown->text + "\"}") << place;
      }
    }
    EXPECT_EQ(seen.size(), step == "raw" ? 300u : 256u);
  }
}

TEST_F(RunPipelineTest, AChangedSettingRedoesOnlyWhatDependsOnIt) {
  files_.Write(files_.Text());
  ASSERT_TRUE(Run().ok());
  const auto before = files_.Contents();
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(printed_, Not(HasSubstr("starting over")));
  EXPECT_EQ(files_.Contents(), before);

  std::string text = files_.Text();
  text.replace(text.find("vocab_size: 400"), 15, "vocab_size: 270");
  files_.Write(text);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(printed_, HasSubstr("train_tokenizer: starting over, because setting "
                                  "train_tokenizer.vocab_size was 400 and is now 270\n"));
  EXPECT_THAT(printed_, HasSubstr("tokenize: starting over, because setting tokenize.documents"));
  EXPECT_THAT(printed_, Not(HasSubstr("filter: starting over")));
  EXPECT_THAT(printed_, Not(HasSubstr("dedup: starting over")));

  files_.Write(files_.Text());
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(files_.Contents(), before);
}

// Replacing the token files loses nothing, even if the replacement is interrupted.
TEST_F(RunPipelineTest, TokenFilesOfAnEarlierReleaseStayUntilNewOnesAreComplete) {
  files_.Write(files_.Text());
  ASSERT_TRUE(Run().ok());
  const auto before = files_.Contents();
  std::string plan = ReadFile(files_.out() + "/tokenize/pipeline.json");
  const std::string version = R"({"version":2)";
  ASSERT_NE(plan.find(version), std::string::npos) << plan;
  plan.replace(plan.find(version), version.size(), R"({"version":1)");
  files_.AddFile("out/tokenize/pipeline.json", plan);
  const auto earlier = files_.Contents();
  cancel_at_ = "tokenize: starting over, because setting tokenize.version was 1 and is now 2\n";
  EXPECT_EQ(Run().status().code(), absl::StatusCode::kCancelled) << printed_;
  auto interrupted = files_.Contents();
  std::erase_if(interrupted, [&](const auto& file) { return !earlier.contains(file.first); });
  EXPECT_EQ(interrupted, earlier);
  cancel_at_.clear();
  cancelled_ = false;
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(files_.Contents(), before);
}

TEST_F(RunPipelineTest, AChangedWeightRedoesOnlyTheMix) {
  files_.Write(files_.Text());
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(printed_, HasSubstr("mix: the weights sum to 0.97 and are normalized to 1\n"));
  auto before = files_.Contents();
  std::string text = files_.Text();
  text.replace(text.find("0.3 code"), 8, "0.4 code");
  files_.Write(text);
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_THAT(*summary, HasSubstr("mix             tokenize 62.62 %, code 37.38 %; "));
  EXPECT_THAT(printed_, HasSubstr("mix: starting over, because "));
  EXPECT_EQ(printed_.find("starting over"), printed_.rfind("starting over"));
  auto after = files_.Contents();
  for (const char* file : {"/mix/data.yaml", "/mix/mix.json"}) {
    EXPECT_NE(before[files_.out() + file], after[files_.out() + file]);
    before.erase(files_.out() + file);
    after.erase(files_.out() + file);
  }
  EXPECT_EQ(before, after);
}

TEST_F(RunPipelineTest, ACompleteStepDoesNotReadTheEvaluationSetsAgain) {
  files_.Write(files_.Text());
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(printed_, HasSubstr("decontaminate: reading the evaluation sets"));
  const std::string report = ReadFile(files_.out() + "/decontaminate/report.json");
  EXPECT_THAT(report, HasSubstr("\"evaluation_documents\": 1"));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(printed_, Not(HasSubstr("reading the evaluation sets")));
  EXPECT_EQ(ReadFile(files_.out() + "/decontaminate/report.json"), report);
  files_.AddFile("eval/f.jsonl", ReadFile(files_ / "in/a.jsonl"));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(printed_, HasSubstr("decontaminate: starting over, because setting "
                                  "decontaminate.against was "));
  EXPECT_THAT(printed_, Not(HasSubstr("dedup: starting over")));
}

TEST_F(RunPipelineTest, TheReportShowsAllStepsOfAMix) {
  files_.Write(files_.Text());
  ASSERT_TRUE(Run().ok());
  const auto report = ReportData({files_.out() + "/mix", "text"});
  ASSERT_TRUE(report.ok()) << report.status();
  for (const char* step : {"\nfilter ", "\ndedup ", "\ndecontaminate ", "\nprepare ", "\nmix "}) {
    EXPECT_THAT(*report, HasSubstr(step));
  }
  EXPECT_THAT(*report, HasSubstr("69.07 % of the samples, from "));
  EXPECT_THAT(*report, HasSubstr("  - " + (files_ / "eval/e.jsonl")));
}

TEST_F(RunPipelineTest, ANewInputRedoesEachStep) {
  files_.Write(files_.Text());
  ASSERT_TRUE(Run().ok());
  files_.AddInput("c.jsonl", 77);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(printed_, HasSubstr("filter: starting over, because input " + (files_ / "in") +
                                  "/c.jsonl is new"));
  EXPECT_THAT(printed_, HasSubstr("dedup: starting over"));
}

TEST_F(RunPipelineTest, ValidationFilesAreNotUsedForTraining) {
  files_.Write(
      "inputs: in\nout: out\nvalidation: in/b.jsonl\nsteps:\n  - tokenize: {tokenizer: byte}\n");
  ASSERT_TRUE(Run().ok());
  Progress quiet = Quiet();
  PrepareOptions prepare;
  prepare.inputs = {files_ / "in"};
  prepare.val = {files_ / "in/b.jsonl"};
  prepare.out = files_ / "tokens";
  ASSERT_TRUE(PrepareData(prepare, &quiet, cancelled_).ok());
  for (const char* file : {"train.bin", "val.bin", "val.json"}) {
    EXPECT_EQ(ReadFile(files_ / "tokens/" + file), ReadFile(files_.out() + "/tokenize/" + file))
        << file;
  }
}

TEST_F(RunPipelineTest, SendsAReportAfterEachStepThatChangesTheDataSet) {
  files_.AddInput("other/c.jsonl", 3);
  files_.Write(files_.Text());
  Ranks ranks;
  ranks.telemetry = files_ / "telemetry";
  ASSERT_TRUE(Run(ranks).ok());
  std::map<int64_t, std::string> reports;
  std::istringstream lines(ReadFile(ranks.telemetry));
  for (std::string line; std::getline(lines, line);) {
    const auto record = nlohmann::json::parse(line);
    if (record["type"] == "data_report") reports[record["number"]] += record["text"];
  }
  ASSERT_EQ(reports.size(), 6u) << "after filter, dedup, decontaminate, tokenize, code and mix";
  EXPECT_EQ(nlohmann::json::parse(reports[1])["steps"].size(), 1u);
  const auto report = nlohmann::json::parse(reports[4]);
  EXPECT_EQ(report["directory"], files_.out() + "/tokenize");
  EXPECT_EQ(report["data_sets"].size(), 1u) << "the data set `code` is not finished";
  const auto sets = nlohmann::json::parse(reports[6])["data_sets"];
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0], report["data_sets"][0]);
  const auto header = nlohmann::json::parse(ReadFile(files_.out() + "/code/train.json"));
  const nlohmann::json code = {
      {"path", files_.out() + "/code"}, {"xxh64", header["xxh64"]}, {"tokens", header["tokens"]}};
  EXPECT_EQ(sets[1], code);
  ASSERT_EQ(report["steps"].size(), 4u);
  EXPECT_FALSE(report["steps"][0]["texts"]["dropped"].empty());
  EXPECT_FALSE(report["steps"][1]["texts"]["clusters"].empty());
  EXPECT_EQ(report["tokenized"][0]["tokenizers"].size(), 3u) << "trained, gpt2 and byte";

  const auto& tokens = report["steps"][3]["tokens"];
  ASSERT_EQ(tokens["sources"].size(), 2u) << "in and in/other";
  int64_t documents = 0;
  int64_t all = 0;
  int64_t bytes = 0;
  for (const auto& source : tokens["sources"]) {
    documents += source["documents"].get<int64_t>();
    bytes += source["bytes"].get<int64_t>();
    all += source["tokens"].get<int64_t>();
  }
  EXPECT_EQ(documents, report["steps"][2]["run"]["documents_out"]);
  EXPECT_EQ(bytes, report["steps"][2]["run"]["bytes_out"]);
  // The tokens that end documents belong to no source.
  EXPECT_EQ(all + documents, tokens["splits"][0]["tokens"].get<int64_t>() +
                                 tokens["splits"][1]["tokens"].get<int64_t>());
}

TEST_F(RunPipelineTest, AStepMayHaveItsOwnValidation) {
  files_.Write(
      "out: out\nsteps:\n  - tokenize: {tokenizer: byte, inputs: in, validation: in/b.jsonl}\n"
      "  - tokenize: {tokenizer: byte, inputs: in, name: other, val_fraction: 0.5}\n");
  ASSERT_TRUE(Run().ok());
  Progress quiet = Quiet();
  PrepareOptions prepare;
  prepare.inputs = {files_ / "in"};
  prepare.val = {files_ / "in/b.jsonl"};
  prepare.out = files_ / "tokens";
  ASSERT_TRUE(PrepareData(prepare, &quiet, cancelled_).ok());
  EXPECT_EQ(ReadFile(files_ / "tokens/val.bin"), ReadFile(files_.out() + "/tokenize/val.bin"));
  // No step trains on the validation files of another one.
  const size_t bytes = ReadFile(files_ / "tokens/train.bin").size();
  EXPECT_EQ(ReadFile(files_.out() + "/other/train.bin").size() +
                ReadFile(files_.out() + "/other/val.bin").size(),
            bytes);
}

TEST_F(RunPipelineTest, ReferencesMayBeTheDocumentsOfAnEarlierStep) {
  files_.Write(
      "out: out\nsteps:\n  - filter: {rules: rules.yaml, inputs: in/a.jsonl}\n"
      "  - dedup: {inputs: in, against: filter}\n  - count: {tokenizers: byte}\n");
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(ReadFile(files_.out() + "/dedup/report.json"),
              HasSubstr("\"directory\": \"" + files_.out() + "/filter\""));
  const auto before = files_.Contents();
  // The times of the references change, their contents do not.
  std::filesystem::remove_all(files_.out() + "/filter");
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(printed_, Not(HasSubstr("dedup: starting over")));
  EXPECT_EQ(files_.Contents(), before);
}

TEST_F(RunPipelineTest, RefusesASecondRun) {
  files_.Write(files_.Text());
  ASSERT_TRUE(Run().ok());
  const UniqueFd lock(open((files_.out() + "/.pipeline").c_str(), O_RDWR));
  ASSERT_EQ(flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  const absl::Status status = Run().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("in use by another process"));
}

TEST_F(RunPipelineTest, RefusesADirectoryOfOtherFiles) {
  files_.Write(files_.Text());
  files_.AddFile("out/letter.txt", "text");
  EXPECT_EQ(Run().status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ReadFile(files_.out() + "/letter.txt"), "text");
}

TEST_F(RunPipelineTest, RefusesAnOutputInAnInput) {
  files_.Write("inputs: in\nout: in/out\nsteps:\n  - count: {tokenizers: byte}\n");
  EXPECT_EQ(Run().status().code(), absl::StatusCode::kInvalidArgument);
  files_.Write("inputs: in\nout: eval/out\nsteps:\n  - decontaminate: {against: eval}\n");
  EXPECT_EQ(Run().status().code(), absl::StatusCode::kInvalidArgument);
  files_.Write("out: in/out\nsteps:\n  - count: {inputs: in, tokenizers: byte}\n");
  EXPECT_EQ(Run().status().code(), absl::StatusCode::kInvalidArgument);
  files_.Write("inputs: out/in\nout: out\nsteps:\n  - count: {tokenizers: byte}\n");
  EXPECT_EQ(Run().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(RunPipelineTest, RecoversALostPart) {
  files_.Write(files_.Text());
  ASSERT_TRUE(Run().ok());
  const auto before = files_.Contents();
  std::filesystem::remove(files_.out() + "/dedup/part-00001.jsonl.zst");
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(files_.Contents(), before);
}

TEST_F(RunPipelineTest, ContinuesAfterCancel) {
  files_.Write(files_.Text());
  cancelled_ = true;
  EXPECT_EQ(Run().status().code(), absl::StatusCode::kCancelled);
  cancelled_ = false;
  EXPECT_TRUE(Run().ok());
}

TEST_F(RunPipelineTest, BadLinesEndTheRun) {
  files_.Write(files_.Text() + "bad: stop\n");
  files_.AddFile("in/z.jsonl", "{\"text\": 5}\n");
  const absl::Status status = Run().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("z.jsonl"));
}

}  // namespace
}  // namespace trainyard::data
