#include "data/stages/run_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/stages/read_run.h"
#include "tests/data/compressed_text.h"
#include "tests/data/stages/stage_runs.h"

namespace trainyard::data {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

TEST(RunStageTest, KeepsWholeLinesInTheOrderOfTheInput) {
  const StageRuns runs;
  ASSERT_EQ(runs.Run(DropRed(), "out"), absl::OkStatus());
  EXPECT_GT(runs.blocks(), 5u);
  std::string kept;
  std::string dropped;
  const auto add = [&](const std::string& lines) {
    for (size_t begin = 0; begin < lines.size();) {
      const size_t end = lines.find('\n', begin) + 1;
      const std::string line = lines.substr(begin, end - begin);
      (line.find("red\"") == std::string::npos ? kept : dropped) += line;
      begin = end;
    }
  };
  add(Lines(200, 0));
  dropped +=
      R"({"text":"A red text\nwith \"quotes\"\n","source":")" + runs.out("in/b.txt") + "\"}\n";
  kept += R"({"text":"# A blue text\n","source":")" + runs.out("in/c.md") + "\"}\n";
  add(Lines(10, 1000));
  add(Lines(100, 2000));
  EXPECT_EQ(runs.Text("out", "part"), kept);
  EXPECT_EQ(runs.Text("out", "dropped"), dropped);
}

TEST(RunStageTest, TheOutputDoesNotDependOnTheNumberOfThreads) {
  const StageRuns runs;
  ASSERT_EQ(runs.Run(DropRed(), "one", {.threads = 1}), absl::OkStatus());
  ASSERT_EQ(runs.Run(DropRed(), "two", {.threads = 2}), absl::OkStatus());
  ASSERT_EQ(runs.Run(DropRed(), "seven", {.threads = 7}), absl::OkStatus());
  ASSERT_EQ(runs.Run(DropRed(), "little memory", {.threads = 7, .memory_bytes = 1}),
            absl::OkStatus());
  EXPECT_EQ(runs.Contents("one"), runs.Contents("two"));
  EXPECT_EQ(runs.Contents("one"), runs.Contents("seven"));
  EXPECT_EQ(runs.Contents("one"), runs.Contents("little memory"));
}

TEST(RunStageTest, TheKeptLinesDoNotDependOnTheSizeOfBlocks) {
  const StageRuns runs;
  ASSERT_EQ(runs.Run(DropRed(), "small", {.block_bytes = 100}), absl::OkStatus());
  ASSERT_EQ(runs.Run(DropRed(), "large", {.block_bytes = 1 << 20}), absl::OkStatus());
  EXPECT_EQ(runs.Text("small", "part"), runs.Text("large", "part"));
  EXPECT_EQ(runs.Text("small", "dropped"), runs.Text("large", "dropped"));
}

TEST(RunStageTest, ReportsCountsAndTheFirstDroppedDocuments) {
  const StageRuns runs;
  ASSERT_EQ(runs.Run(DropRed(), "out"), absl::OkStatus());
  const auto report = nlohmann::json::parse(runs.Contents("out").at("report.json"));
  EXPECT_EQ(report["documents_in"], 312);
  EXPECT_EQ(report["documents_out"], 312 - 63);
  EXPECT_EQ(report["dropped"][0]["documents"], 63);
  EXPECT_EQ(report["dropped"][0]["reason"], "red");
  EXPECT_EQ(report["dropped"][0]["samples"],
            nlohmann::json({runs.out("in/a.jsonl") + ":1", runs.out("in/a.jsonl") + ":6",
                            runs.out("in/a.jsonl") + ":11"}));
  EXPECT_EQ(runs.read_bytes(), runs.left_bytes());
}

TEST(RunStageTest, RecordsTheFilesTheLengthsAndTheDroppedDocuments) {
  const StageRuns runs;
  ASSERT_EQ(runs.Run(DropRed(), "out", {.block_bytes = 1 << 20}), absl::OkStatus());
  const auto run = ReadRun(runs.out("out"));
  ASSERT_TRUE(run.ok()) << run.status();
  const DocumentCounts& counts = run->records.at(0).counts;
  ASSERT_GE(counts.files.size(), 3u);
  EXPECT_EQ(counts.files[0].documents_in, 200);
  EXPECT_EQ(counts.files[0].documents_out, 160);
  EXPECT_EQ(counts.files[1].documents_out, 0) << "b.txt contains the word";
  EXPECT_EQ(counts.files[2].bytes_out, 14);
  ASSERT_EQ(counts.is_dropped.size(), static_cast<size_t>(counts.documents_in));
  for (size_t i = 0; i < 200; ++i) EXPECT_EQ(counts.is_dropped[i], i % 5 == 0) << i;
  int64_t documents = 0;
  int64_t files = 0;
  for (const auto& [block, record] : run->records) {
    for (const auto& [bits, count] : record.counts.lengths) documents += count;
    for (const FileCounts& file : record.counts.files) files += file.documents_out;
  }
  EXPECT_EQ(documents, 312 - 63);
  EXPECT_EQ(files, 312 - 63);
  EXPECT_EQ(counts.lengths.begin()->first, 4) << "the shortest text has 14 bytes";
}

TEST(RunStageTest, TheReportContainsTheDetailsOfTheStage) {
  const StageRuns runs;
  Stage stage = DropRed();
  stage.details = {{"answer", 42}};
  ASSERT_EQ(runs.Run(stage, "out"), absl::OkStatus());
  EXPECT_EQ(nlohmann::json::parse(runs.Contents("out").at("report.json"))["red"]["answer"], 42);
}

TEST(RunStageTest, ReadsCompressedFiles) {
  const StageRuns runs;
  runs.files().Write("in/g.jsonl.gz", Gzip(Lines(50, 0)) + Gzip(Lines(50, 50)));
  runs.files().Write("in/h.txt.zst", Zstd("blue"));
  ASSERT_EQ(runs.Run(DropRed(), "out"), absl::OkStatus());
  EXPECT_THAT(runs.Text("out", "part"),
              AllOf(HasSubstr("wagon 783981"), HasSubstr("h.txt.zst\"}\n")));
  EXPECT_EQ(runs.read_bytes(), runs.left_bytes());
}

TEST(RunStageTest, NumbersBadLinesFromTheStartOfTheFile) {
  const StageRuns runs;
  runs.files().Write("in/a.jsonl", Lines(150, 0) + "{\"id\": 5}\n" + Lines(50, 150) + "[]\n");
  RunOptions options;
  options.bad_lines.max_fraction = 0.1;
  ASSERT_EQ(runs.Run(DropRed(), "out", options), absl::OkStatus());
  EXPECT_THAT(runs.Contents("out").at("bad.jsonl"),
              AllOf(HasSubstr("a.jsonl\",\"line\":151,\"kind\":\"field_missing\""),
                    HasSubstr("a.jsonl\",\"line\":202,\"kind\":\"not_json\"")));
  options.bad_lines.stop = true;
  EXPECT_THAT(runs.Run(DropRed(), "out", options).message(), HasSubstr("a.jsonl:151: no field"));
  options.bad_lines = {false, 0.001};
  EXPECT_THAT(runs.Run(DropRed(), "new", options).message(), HasSubstr("2 of 312 lines are bad"));
  // The policy is not part of the plan.
  options.bad_lines.max_fraction = 0.1;
  ASSERT_EQ(runs.Run(DropRed(), "new", options), absl::OkStatus());
  EXPECT_EQ(runs.recorded(), runs.blocks());
  EXPECT_EQ(runs.Contents("new"), runs.Contents("out"));
}

TEST(RunStageTest, CountsBadLinesBeyondTheListedOnes) {
  const StageRuns runs;
  std::string lines = Lines(1, 0);
  for (int i = 0; i < 3000; ++i) lines += "1\n";
  runs.files().Write("in/a.jsonl", lines);
  RunOptions options = {.block_bytes = 1 << 20};
  options.bad_lines.max_fraction = 1;
  ASSERT_EQ(runs.Run(DropRed(), "out", options), absl::OkStatus());
  const auto report = nlohmann::json::parse(runs.Contents("out").at("report.json"));
  EXPECT_EQ(report["bad_lines"], 3000);
  const std::string listed = runs.Contents("out").at("bad.jsonl");
  EXPECT_EQ(std::count(listed.begin(), listed.end(), '\n'), 1000);
}

// Lines are read 1 MiB at a time. Lines 4000 and 4050 are in the second read of the second block.
TEST(RunStageTest, ABlockIsReadInSeveralPieces) {
  const StageRuns runs;
  std::string lines;
  for (int line = 1; line <= 5000; ++line) {
    const char* const end = line == 4000 ? "red" : "blue";
    lines += line == 4050 ? "[]\n" : "{\"text\": \"" + std::string(1000, 'x') + end + "\"}\n";
  }
  const std::string path = runs.files().Write("in/a.jsonl", lines);
  RunOptions options = {.block_bytes = 2 << 20};
  options.bad_lines.max_fraction = 0.01;
  ASSERT_EQ(runs.Run(DropRed(), "out", options), absl::OkStatus());
  EXPECT_EQ(runs.blocks(), 5u);
  const auto report = nlohmann::json::parse(runs.Contents("out").at("report.json"));
  EXPECT_EQ(report["documents_in"], 4999 + 112);
  EXPECT_EQ(report["dropped"][0]["samples"][0], path + ":4000");
  EXPECT_THAT(runs.Contents("out").at("bad.jsonl"), HasSubstr("\"line\":4050,"));
  EXPECT_EQ(runs.read_bytes(), runs.left_bytes());
}

TEST(RunStageTest, TheDirectoryIsAnInputOfOtherCommands) {
  const StageRuns runs;
  ASSERT_EQ(runs.Run(DropRed(), "out"), absl::OkStatus());
  const auto inputs = FindInputFiles({runs.out("out")});
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  EXPECT_EQ(inputs->size(), runs.blocks());
  EXPECT_THAT(inputs->front().path, EndsWith("out/part-00000.jsonl.zst"));
  std::filesystem::remove(runs.out("out/report.json"));
  EXPECT_THAT(FindInputFiles({runs.out("out")}).status().message(), HasSubstr("incomplete"));
}

TEST(RunStageTest, FailsWithTheErrorOfTheFirstBlock) {
  const StageRuns runs;
  for (const char* name : {"in/e.txt", "in/e2.txt", "in/e3.txt"}) {
    runs.files().Write(name, std::string(1500, 'a') + "\xFF");
  }
  for (int threads : {1, 2, 7}) {
    EXPECT_THAT(
        runs.Run(DropRed(), "out" + std::to_string(threads), {.threads = threads}).message(),
        HasSubstr("e.txt: not UTF-8 at byte 1500"));
    EXPECT_THAT(runs.Contents("out" + std::to_string(threads)), Not(Contains(Key("report.json"))));
  }
}

TEST(RunStageTest, RefusesAFileThatChangesDuringTheRun) {
  const StageRuns runs;
  const Stage stage = DropRed([&](int64_t documents) {
    if (documents == 250) runs.files().Write("in/f.jsonl", Lines(100, 3000));
    return absl::OkStatus();
  });
  EXPECT_THAT(runs.Run(stage, "out", {.threads = 1}).message(), HasSubstr("f.jsonl: changed"));
  EXPECT_THAT(runs.Run(DropRed(), "out").message(), HasSubstr("f.jsonl has changed"));
}

TEST(RunStageTest, RefusesTextLongerThanADocument) {
  const StageRuns runs;
  const std::string path = runs.files().Write("in/long.txt", "");
  std::filesystem::resize_file(path, (uint64_t{256} << 20) + 1);
  EXPECT_THAT(runs.Run(DropRed(), "out").message(), HasSubstr("long.txt: larger than 256 MiB"));
}

}  // namespace
}  // namespace trainyard::data
