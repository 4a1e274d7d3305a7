#include "data/prepare/cleaning/filter_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "data/input/block_reader.h"
#include "data/input/input_files.h"
#include "tests/data/prepare/splits/prepared_data.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

FilterOptions Filtering(const TextDirectory& directory, const std::string& rules) {
  FilterOptions options;
  options.inputs = {directory / "in"};
  options.rules = rules;
  options.out = directory / "out";
  options.jobs = 2;
  return options;
}

absl::StatusOr<FilterSummary> FilterQuietly(const FilterOptions& options) {
  Progress progress = QuietProgress();
  return FilterData(options, &progress, kNeverCancelled);
}

std::string TextOf(const std::string& path) {
  const auto inputs = FindInputFiles({path});
  EXPECT_TRUE(inputs.ok()) << inputs.status();
  BlockReader reader(*inputs);
  RawBlock block;
  EXPECT_TRUE(reader.Next(&block).ok());
  return block.bytes;
}

std::string Words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "wagons ";
  return text;
}

TEST(FilterDataTest, KeepsLinesAndStatesWhyOthersAreDropped) {
  const TextDirectory directory;
  const std::string kept = R"({"id": 12345678901234567890123, "text": ")" + Words(50) + "\"}\n";
  directory.Write("in/a.jsonl", R"( {"text": "one two"})"
                                "\n" +
                                    kept + R"({"text": "12", "id": 3})" + "\n");
  directory.Write("in/b.txt", Words(49));
  const auto summary = FilterQuietly(Filtering(directory, "guide"));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->files, 2);
  EXPECT_EQ(summary->documents_in, 4);
  EXPECT_EQ(summary->documents_out, 1);
  EXPECT_EQ(summary->bytes_out, 350);
  EXPECT_EQ(summary->bytes_in, 7 + 350 + 2 + 343);
  ASSERT_EQ(summary->rules.size(), 3u);
  EXPECT_EQ(summary->rules[0].documents, 3);
  EXPECT_EQ(summary->rules[0].bytes, 7 + 2 + 343);
  EXPECT_THAT(
      summary->rules[0].samples,
      ElementsAre(directory / "in/a.jsonl:1", directory / "in/a.jsonl:3", directory / "in/b.txt"));
  EXPECT_THAT(summary->rules[1].samples, IsEmpty());
  EXPECT_EQ(TextOf(directory / "out/part-00000.jsonl.zst"), kept);
  const std::string name = summary->rules[0].name;
  EXPECT_EQ(TextOf(directory / "out/dropped-00000.jsonl.zst"),
            R"( {"trainyard_dropped":{"rule":")" + name + R"(","value":2.0},"text": "one two"})" +
                "\n" + R"({"trainyard_dropped":{"rule":")" + name +
                R"(","value":1.0},"text": "12", "id": 3})" + "\n" +
                R"({"trainyard_dropped":{"rule":")" + name + R"(","value":49.0},"text":")" +
                Words(49) + R"(","source":")" + directory / "in/b.txt" + "\"}\n");
  EXPECT_EQ(JsonFile(directory / "out/report.json")["documents_out"], 1);
}

TEST(FilterDataTest, KeptDocumentsContainTheEditedText) {
  const TextDirectory directory;
  std::string text;
  for (int i = 0; i < 6; ++i) text += "This line is a sentence and stays.\\n";
  directory.Write("in/a.jsonl",
                  R"({"id": 7, "text": ")" + text + R"(Menu without an end\n", "n": [1]})" + "\n");
  const auto summary = FilterQuietly(Filtering(directory, "c4"));
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->documents_out, 1);
  const std::string kept = TextOf(directory / "out/part-00000.jsonl.zst");
  EXPECT_THAT(kept, HasSubstr(R"({"id": 7, "text": "This line is)"));
  EXPECT_THAT(kept, HasSubstr(R"(stays.", "n": [1]})"));
  EXPECT_LT(summary->bytes_out, summary->bytes_in);
}

TEST(FilterDataTest, TheOutputIsAnInputOfPrepareAndOfFilter) {
  const TextDirectory directory;
  directory.Write("in/a.txt", Words(50));
  directory.Write("in/b.txt", Words(40));
  FilterOptions options = Filtering(directory, "guide");
  ASSERT_TRUE(FilterQuietly(options).ok());
  PrepareOptions prepare = TrainOnly(directory, "byte", "tokens");
  prepare.inputs = {options.out};
  const auto prepared = PrepareQuietly(prepare);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ(prepared->train.source_bytes, 350);
  options.inputs = {options.out};
  options.out = directory / "again";
  const auto again = FilterQuietly(options);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->documents_in, 1);
  EXPECT_EQ(TextOf(directory / "again"), TextOf(directory / "out"));
}

TEST(FilterDataTest, RefusesWrongRulesAndDirectories) {
  const TextDirectory directory;
  directory.Write("in/a.txt", Words(50));
  EXPECT_FALSE(FilterQuietly(Filtering(directory, "none.yaml")).ok());
  FilterOptions options = Filtering(directory, "guide");
  options.out = directory / "in/out";
  EXPECT_THAT(FilterQuietly(options).status().message(), HasSubstr("contain each other"));
  EXPECT_FALSE(std::filesystem::exists(options.out));
}

TEST(FilterDataTest, PrintsATable) {
  FilterSummary summary = {"kept", 2, 2000, 1500, 9000, 8000};
  summary.rules = {{"a_long_rule_name", 500, 1000, {"a.jsonl:1", "b.jsonl:7"}}, {"other"}};
  summary.bad_lines = "1 of 2,001 lines skipped";
  EXPECT_EQ(FilterText(summary),
            "rule                   documents       text   share  first dropped documents\n"
            "a_long_rule_name             500     1.0 kB  25.00%  a.jsonl:1, b.jsonl:7\n"
            "other                          0        0 B   0.00%\n"
            "kept                       1,500     8.0 kB  75.00%\n"
            "read                       2,000     9.0 kB 100.00%\n"
            "bad lines    1 of 2,001 lines skipped; see bad.jsonl\n"
            "directory    kept\n"
            "next         trainyard data prepare kept --tokenizer TOKENIZER --out DIR\n");
}

}  // namespace
}  // namespace trainyard::data
