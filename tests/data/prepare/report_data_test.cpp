#include "data/prepare/report_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/prepare/dedup_data.h"
#include "data/prepare/filter_data.h"
#include "tests/data/prepare/prepared_data.h"

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
