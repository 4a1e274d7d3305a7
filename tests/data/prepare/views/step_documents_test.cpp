#include "data/prepare/views/step_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>

#include "proto/rules/data_sources.h"
#include "proto/samples/run_samples.h"
#include "tests/data/prepare/splits/prepared_data.h"
#include "trainer/data/training_samples.h"

namespace trainyard::data {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kWindowTokens = 64;

class StepDocumentsTest : public testing::Test {
 protected:
  // Two data sets of documents of various lengths, in the tokenizer `byte`.
  StepDocumentsTest() {
    for (const std::string name : {"a", "b"}) {
      std::string lines;
      for (uint64_t i = 0; i < 40; ++i) {
        lines +=
            json({{"text", name + std::to_string(i) + " " + Prose(3 + 17 * (i % 9), i)}}).dump() +
            "\n";
      }
      directory_.Write(name + "/in/x.jsonl", lines);
      PrepareOptions prepare = TrainOnly(directory_, "byte", name + "/out");
      prepare.inputs = {directory_ / (name + "/in")};
      EXPECT_TRUE(PrepareQuietly(prepare).ok());
    }
    config_.data.path = directory_ / "a/out";
    config_.model.vocab_size = 257;
    config_.train.seq_length = kWindowTokens;
    config_.train.global_batch = 8;
    config_.train.steps = 100;
    config_.layout.dp = 2;
    config_.layout.micro_batch = 1;
  }

  StepDocumentsOptions Showing(int64_t step, const SamplesStart& start = {}) const {
    StepDocumentsOptions options;
    options.job = "17 llama";
    options.step = step;
    options.seq_length = config_.train.seq_length;
    options.seed = config_.data.seed;
    for (const DataSource& source : BlendOf(config_.data).sources) {
      options.sources.push_back(source.path);
    }
    const RunSamples samples(config_, start);
    options.batch = samples.CountOf(step);
    for (int64_t i = 0; i < options.batch; ++i) {
      const RunSample sample = samples.At(step, i);
      options.samples.push_back({i, sample.number, sample.position, sample.data_index,
                                 sample.place.source, sample.place.index});
    }
    return options;
  }

  // Returns the text that the trainer's ranks read for each sample of a step. The end of a document
  // is "|".
  std::vector<std::string> ReadByTrainer(int64_t step) const {
    std::vector<std::string> texts;
    for (int64_t rank = 0; rank < config_.layout.dp; ++rank) {
      trainer::TrainingSamples samples(config_, "", rank);
      samples.Begin({.step = step - 1, .samples = (step - 1) * config_.train.global_batch});
      const auto prefetcher = samples.Prefetch();
      for (int64_t round = 0; round < samples.RoundsOf(step); ++round) {
        const trainer::TokenBatch batch = prefetcher->Next();
        std::string& text = texts.emplace_back();
        for (const int64_t id : batch.tokens) text += id == 256 ? '|' : static_cast<char>(id);
      }
    }
    return texts;
  }

  const TextDirectory directory_;
  RunConfig config_;
};

// Ends of documents are not part of the texts.
std::vector<std::string> TextsOf(const StepDocuments& documents) {
  std::vector<std::string> texts;
  for (const ShownSample& sample : documents.samples) {
    std::string& text = texts.emplace_back();
    for (const ShownPart& shown : sample.parts) text += shown.text;
  }
  return texts;
}

std::vector<std::string> WithoutEnds(std::vector<std::string> texts) {
  for (std::string& text : texts) std::erase(text, '|');
  return texts;
}

TEST_F(StepDocumentsTest, ShowsTheTextThatTheRanksRead) {
  config_.data.path.clear();
  config_.data.blend = {"2 " + directory_ / "a/out", "1 " + directory_ / "b/out"};
  for (const int64_t dp : {1, 2, 4}) {
    config_.layout.dp = dp;
    for (const int64_t step : {1, 2, 30}) {
      const auto shown = FindStepDocuments(Showing(step), kNeverCancelled);
      ASSERT_TRUE(shown.ok()) << shown.status();
      EXPECT_EQ(TextsOf(*shown), WithoutEnds(ReadByTrainer(step))) << dp << " " << step;
    }
  }
}

// Each document of the inputs begins with its name.
TEST_F(StepDocumentsTest, DocumentsHaveTheirNumbersAndPlaces) {
  const auto shown = FindStepDocuments(Showing(3), kNeverCancelled);
  ASSERT_TRUE(shown.ok()) << shown.status();
  ASSERT_EQ(shown->samples.size(), 8u);
  int64_t beginnings = 0;
  for (const ShownSample& sample : shown->samples) {
    EXPECT_EQ(sample.tokens.end - sample.tokens.begin, kWindowTokens + 1);
    for (const ShownPart& part : sample.parts) {
      const std::string name = "a" + std::to_string(part.part.number - 1) + " ";
      EXPECT_EQ(part.place, directory_ / "a/in/x.jsonl" + ":" + std::to_string(part.part.number));
      ASSERT_TRUE(part.begin_byte);
      EXPECT_EQ(*part.begin_byte, part.part.tokens.begin - part.part.first_token);
      if (*part.begin_byte > 0 || part.text.size() < name.size()) continue;
      EXPECT_THAT(part.text, StartsWith(name));
      ++beginnings;
    }
  }
  EXPECT_GT(beginnings, 3);
  EXPECT_THAT(shown->sources[0].inputs, ElementsAre(directory_ / "a/in"));
}

TEST_F(StepDocumentsTest, TextAndJsonHaveTheSameFacts) {
  StepDocumentsOptions options = Showing(3);
  options.samples.erase(options.samples.begin(), options.samples.begin() + 5);
  options.samples.resize(1);
  options.max_bytes = 10;
  const auto shown = FindStepDocuments(options, kNeverCancelled);
  ASSERT_TRUE(shown.ok()) << shown.status();
  const json report = json::parse(StepJson(*shown, options));
  EXPECT_EQ(report["format"], "trainyard-step-documents");
  EXPECT_EQ(report["batch"], 8);
  const json& sample = report["samples"][0];
  EXPECT_EQ(sample["sample"], 6);
  EXPECT_EQ(sample["number"], 21);
  EXPECT_EQ(sample["data_parallel_rank"], 1);
  EXPECT_EQ(sample["tokens"][1].get<int64_t>() - sample["tokens"][0].get<int64_t>(),
            kWindowTokens + 1);
  const json& document = sample["documents"][0];
  EXPECT_LE(document["text"].get<std::string>().size(), 10u);
  const std::string text = StepText(*shown, options);
  EXPECT_THAT(text, StartsWith("job          17 llama\n"
                               "step         3: 8 samples of 64 tokens, 1 shown\n"
                               "data set     " +
                               directory_ / "a/out" + ", made from " + directory_ / "a/in" +
                               "\n\nsample 6     "));
  EXPECT_THAT(text, HasSubstr("  document " + document["number"].dump() + ": tokens " +
                              document["tokens"][0].dump() + " to "));
  EXPECT_EQ(document["place"], directory_ / "a/in/x.jsonl" + ":" + document["number"].dump());
  EXPECT_THAT(text, HasSubstr("\n    from " + document["place"].get<std::string>() + "\n    " +
                              document["text"].dump()));
  EXPECT_THAT(text, HasSubstr("trainyard data show " + directory_ / "a/out" +
                              " train:" + document["number"].dump()));
}

// Earlier releases did not record the inputs.
TEST_F(StepDocumentsTest, OlderDataSetsHaveNoPlaces) {
  json header = JsonFile(directory_ / "a/out/train.json");
  header.erase("sources");
  directory_.Write("a/out/train.json", header.dump());
  const StepDocumentsOptions options = Showing(3);
  const auto shown = FindStepDocuments(options, kNeverCancelled);
  ASSERT_TRUE(shown.ok()) << shown.status();
  EXPECT_TRUE(
      json::parse(StepJson(*shown, options))["samples"][0]["documents"][0]["place"].is_null());
  EXPECT_EQ(StepText(*shown, options).find("    from "), std::string::npos);
}

TEST_F(StepDocumentsTest, AFileOfADataSetIsItsSplit) {
  config_.data.path = directory_ / "a/out/train.bin";
  const auto shown = FindStepDocuments(Showing(3), kNeverCancelled);
  ASSERT_TRUE(shown.ok()) << shown.status();
  EXPECT_EQ(TextsOf(*shown), WithoutEnds(ReadByTrainer(3)));
}

TEST_F(StepDocumentsTest, ErrorsNameTheNextStep) {
  StepDocumentsOptions options = Showing(3);
  options.sources = {directory_ / "none"};
  auto shown = FindStepDocuments(options, kNeverCancelled);
  EXPECT_EQ(shown.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(shown.status().message(), HasSubstr("run the command on a machine that sees"));
  options.sources = {directory_ / "a/in"};
  EXPECT_THAT(FindStepDocuments(options, kNeverCancelled).status().message(),
              HasSubstr("no data set of `trainyard data prepare`"));
  options = Showing(3);
  options.seq_length = 1'000'000;
  EXPECT_THAT(FindStepDocuments(options, kNeverCancelled).status().message(),
              HasSubstr("has fewer tokens than a sample"));
  options.samples[0].source = 1;
  EXPECT_EQ(FindStepDocuments(options, kNeverCancelled).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(StepDocumentsTest, ADataSetThatWasWrittenAfterTheStepIsRefused) {
  StepDocumentsOptions options = Showing(3);
  const std::string path = directory_ / "a/out/train.bin";
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  options.trained_ms = (int64_t{status.st_mtime} + 1) * 1000;
  EXPECT_TRUE(FindStepDocuments(options, kNeverCancelled).ok());
  options.trained_ms = (int64_t{status.st_mtime} - 1) * 1000;
  const auto shown = FindStepDocuments(options, kNeverCancelled);
  EXPECT_EQ(shown.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(shown.status().message(), HasSubstr("pass --accept-changed"));
  options.accepts_changed = true;
  EXPECT_TRUE(FindStepDocuments(options, kNeverCancelled).ok());
}

}  // namespace
}  // namespace trainyard::data
