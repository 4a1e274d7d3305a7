#include "data/prepare/views/report_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/prepare/cleaning/dedup_data.h"
#include "data/prepare/cleaning/filter_data.h"
#include "tests/data/prepare/splits/prepared_data.h"

namespace trainyard::data {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Filters, removes duplicates and prepares. The input has 40 documents: 10 short ones and 4 copies.
void RunCommands(const TextDirectory& directory) {
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    std::string text = i % 4 == 0 ? "short" : Prose(400, static_cast<uint64_t>(i % 8 == 1 ? 1 : i));
    lines += json({{"text", text}}).dump() + "\n";
  }
  directory.Write("in/a.jsonl", lines);
  Progress progress = QuietProgress();
  FilterOptions filter;
  filter.inputs = {directory / "in"};
  filter.rules = "guide";
  filter.out = directory / "kept";
  filter.jobs = 1;
  ASSERT_TRUE(FilterData(filter, &progress, kNeverCancelled).ok());
  DedupOptions dedup;
  dedup.inputs = {directory / "kept"};
  dedup.out = directory / "unique";
  dedup.jobs = 1;
  ASSERT_TRUE(DedupData(dedup, &progress, kNeverCancelled).ok());
  PrepareOptions prepare = TrainOnly(directory, "byte");
  prepare.inputs = {directory / "unique"};
  ASSERT_TRUE(PrepareQuietly(prepare).ok());
}

TEST(ReportDataTest, ReportsAllStepsOfADataSet) {
  const TextDirectory directory;
  RunCommands(directory);
  const auto text = ReportData({directory / "out", "json"});
  ASSERT_TRUE(text.ok()) << text.status();
  const json report = json::parse(*text);
  ASSERT_EQ(report["steps"].size(), 3u);
  const json& filter = report["steps"][0];
  EXPECT_EQ(filter["name"], "filter");
  EXPECT_EQ(filter["run"]["documents_in"], 40);
  EXPECT_EQ(filter["run"]["documents_out"], 30);
  EXPECT_EQ(filter["run"]["dropped"][0]["reason"], "words");
  EXPECT_EQ(filter["inputs"][0]["directory"], directory / "in");
  const json& dedup = report["steps"][1];
  EXPECT_EQ(dedup["run"]["documents_out"], 26);
  EXPECT_EQ(dedup["inputs"][0]["step"], 0);
  EXPECT_EQ(dedup["run"]["details"]["largest"][0]["documents"], 5);
  EXPECT_EQ(dedup["run"]["details"]["largest"][0]["members"].size(), 4u);
  const json& prepare = report["steps"][2];
  EXPECT_EQ(prepare["inputs"][0]["step"], 1);
  EXPECT_EQ(prepare["settings"]["tokenizer"], "byte");
  EXPECT_EQ(prepare["tokens"]["splits"][0]["documents"], 26);
  EXPECT_EQ(prepare["tokens"]["splits"][0]["bytes"], dedup["run"]["bytes_out"]);
  for (const json& step : report["steps"]) EXPECT_EQ(step["problems"], json::array());
}

TEST(ReportDataTest, AddsTextsOfDroppedDocumentsAndDuplicates) {
  const TextDirectory directory;
  RunCommands(directory);
  ReportOptions options{directory / "out", "json"};
  options.texts = true;
  options.tokenizers = {"gpt2", "byte"};
  const auto text = ReportData(options);
  ASSERT_TRUE(text.ok()) << text.status();
  const json report = json::parse(*text);
  const json& dropped = report["steps"][0]["texts"]["dropped"];
  ASSERT_EQ(dropped.size(), 2u);
  EXPECT_EQ(dropped[0]["reason"], "words");
  EXPECT_EQ(dropped[0]["text"], "short");
  EXPECT_EQ(dropped[0]["place"], directory / "in/a.jsonl" + ":1");
  EXPECT_EQ(dropped[0]["verdict"]["rule"], "words");
  EXPECT_EQ(report["steps"][0]["texts"]["clusters"], json::array());
  const json& cluster = report["steps"][1]["texts"]["clusters"][0];
  EXPECT_EQ(cluster["kept"]["text"], Prose(400, 1));
  ASSERT_EQ(cluster["members"].size(), 2u);
  EXPECT_EQ(cluster["members"][0]["similarity"], 1);
  EXPECT_EQ(cluster["members"][0]["text"], Prose(400, 1));
  EXPECT_EQ(report["steps"][2]["texts"], nullptr);
  const json& tokenized = report["tokenized"];
  ASSERT_EQ(tokenized.size(), 3u);
  EXPECT_EQ(tokenized[0]["place"], "kept:1");
  ASSERT_EQ(tokenized[0]["tokenizers"].size(), 2u);
  EXPECT_EQ(tokenized[0]["tokenizers"][0]["tokenizer"], "gpt2");
  EXPECT_EQ(tokenized[0]["tokenizers"][1]["tokens"], tokenized[0]["bytes"]);
  EXPECT_EQ(tokenized[0]["tokenizers"][0]["ends"].back(), tokenized[0]["bytes"]);
}

TEST(ReportDataTest, TextsAreCutAndNeedJson) {
  const TextDirectory directory;
  directory.Write("in/a.jsonl", json({{"text", "\u00e9" + std::string(5000, 'x')}}).dump() + "\n" +
                                    json({{"text", Prose(4000, 1)}}).dump() + "\n");
  Progress progress = QuietProgress();
  FilterOptions filter;
  filter.inputs = {directory / "in"};
  filter.rules = "guide";
  filter.out = directory / "kept";
  ASSERT_TRUE(FilterData(filter, &progress, kNeverCancelled).ok());
  ReportOptions options{directory / "kept", "json"};
  options.texts = true;
  options.tokenizers = {"gpt2"};
  const json report = json::parse(*ReportData(options));
  const json& dropped = report["steps"][0]["texts"]["dropped"][0];
  EXPECT_EQ(dropped["bytes"], 5002);
  EXPECT_EQ(dropped["text"], "\u00e9" + std::string(598, 'x'));
  EXPECT_EQ(report["tokenized"][0]["text"], Prose(4000, 1).substr(0, 1500));
  options.output = "text";
  EXPECT_THAT(std::string(ReportData(options).status().message()), HasSubstr("also pass -o json"));
}

TEST(ReportDataTest, PrintsATable) {
  StepReport filter;
  filter.directory = "/kept";
  filter.name = "filter";
  filter.inputs = {{"/in", "train", "", 2, 5000, 2000, 1500, 9000, 8000, std::nullopt}};
  filter.documents_in = 2000;
  filter.documents_out = 1500;
  filter.bytes_out = 8000;
  filter.bad_lines = 3;
  filter.dropped = {{"words", 500, 1000, {"a.jsonl:1", "b.jsonl:7"}}};
  filter.lengths = {{3, 1000}, {12, 500}};
  filter.details = {
      {"largest", {{{"documents", 7}, {"lowest_similarity", 0.8125}, {"kept", "a.jsonl:9"}}}}};
  StepReport prepare;
  prepare.directory = "/out";
  prepare.name = "prepare";
  prepare.inputs = {{"/kept", "train", "1234", 1, 400, {}, {}, 0, 0, 0},
                    {"/val", "val", "", 3, 1000, {}, {}, 0, 0, std::nullopt}};
  prepare.tokenizer = {{"name", "gpt2"}, {"fingerprint", "46e5"}};
  prepare.splits = {{"train", 1500, 2000, 8000}};
  prepare.problems = {"something changed"};
  EXPECT_EQ(
      ReportText({{filter, prepare}, false}),
      "step                         documents       text of input\n"
      "inputs                           2,000     9.0 kB           2 files, 5.0 kB on disk, /in\n"
      "filter                           1,500     8.0 kB   75.00%  /kept\n"
      "  - words                          500     1.0 kB   25.00%  a.jsonl:1, b.jsonl:7\n"
      "  bad lines              3\n"
      "  cluster                7 documents, lowest similarity 0.81, kept a.jsonl:9\n"
      "val                      3 files, 1.0 kB on disk, /val\n"
      "prepare                  /out\n"
      "  train                          1,500     8.0 kB           2,000 tokens, 4.00 bytes per "
      "token\n"
      "  tokenizer              gpt2, fingerprint 46e5\n"
      "lengths after filter     p50 below 8 B, p90 below 4.1 kB, max below 4.1 kB\n"
      "problem: something changed\n");
}

TEST(ReportDataTest, LimitsWhatItPrints) {
  StepReport step;
  step.name = "filter";
  for (int i = 0; i < 12; ++i) step.inputs.push_back({"/d", "train", "", 1, 1});
  for (int i = 0; i < 25; ++i) step.dropped.push_back({"r" + std::to_string(i), 1, 1, {}});
  const std::string text = ReportText({{step}, true});
  EXPECT_THAT(text, HasSubstr("and 2 other directories\n"));
  EXPECT_THAT(text, HasSubstr("and 5 other reasons\n"));
  EXPECT_THAT(text, HasSubstr("problem: only the last 100 steps are shown"));
}

}  // namespace
}  // namespace trainyard::data
