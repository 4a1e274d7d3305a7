#include "data/decontamination/decontamination_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "data/input/block_reader.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class DecontaminationRunTest : public testing::Test {
 protected:
  // Every seventh document contains a question.
  void SetUp() override {
    std::string questions;
    for (int i = 0; i < 10; ++i) questions += json({{"question", Question(i)}}).dump() + "\n";
    files_.Write("eval/q.jsonl", questions);
    files_.Write("eval/r.txt", Question(100));
    std::string lines;
    for (int i = 0; i < 140; ++i) {
      const std::string text = Prose(300, static_cast<uint64_t>(i));
      lines += json({{"text", i % 7 == 0 ? text + Question(i / 7) : text}}).dump() + "\n";
    }
    files_.Write("in/a.jsonl", lines);
    files_.Write("in/b.txt", "Some text. " + Question(100));
  }

  static std::string Question(int number) {
    std::string text = "How many wagons";
    for (int i = 0; i < 12; ++i) text += " q" + std::to_string(number) + "x" + std::to_string(i);
    return text + "?";
  }

  absl::StatusOr<DecontaminationResult> Run(const std::string& out, int threads = 2,
                                            const std::string& field = "question") {
    DecontaminationSettings settings;
    settings.evaluation_field = field;
    settings.run.out = files_ / out;
    settings.run.threads = threads;
    settings.limits.block_bytes = 3000;
    const RunObserver observer = {[](size_t, size_t, int64_t) {}, [](int64_t) {}};
    return RunDecontamination(*FindInputFiles({files_ / "in"}), *FindInputFiles({files_ / "eval"}),
                              settings, observer, cancelled_);
  }

  // The files of a run, without the lock and the log, which contains times.
  std::map<std::string, std::string> Contents(const std::string& out) const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::directory_iterator(files_ / out)) {
      const std::string name = entry.path().filename().string();
      if (name != ".lock" && name != "records.log") contents[name] = ReadFile(entry.path());
    }
    return contents;
  }

  TextDirectory files_;
  std::atomic<bool> cancelled_ = false;
};

TEST_F(DecontaminationRunTest, DropsDocumentsWithQuestions) {
  const auto result = Run("out");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->evaluation_documents, 11);
  EXPECT_EQ(result->documents_in, 141);
  EXPECT_EQ(result->documents_out, 130);
  ASSERT_EQ(result->overlapped.size(), 2u);
  EXPECT_EQ(result->overlapped[0].file, files_ / "eval/q.jsonl");
  EXPECT_EQ(result->overlapped[0].documents, 10);
  EXPECT_THAT(result->overlapped[0].samples,
              ElementsAre(files_ / "in/a.jsonl" + ":1", files_ / "in/a.jsonl" + ":8",
                          files_ / "in/a.jsonl" + ":15"));
  EXPECT_THAT(result->overlapped[1].samples, ElementsAre(files_ / "in/b.txt"));
  const json report = json::parse(Contents("out").at("report.json"));
  EXPECT_EQ(report["decontaminate"]["evaluation_documents"], 11);
  EXPECT_EQ(report["settings"]["against"][0]["directory"], files_ / "eval");
}

TEST_F(DecontaminationRunTest, DroppedDocumentsNameTheQuestion) {
  ASSERT_TRUE(Run("out").ok());
  const auto inputs = FindInputFiles({files_ / "out/dropped-00000.jsonl.zst"});
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  BlockReader reader(*inputs);
  RawBlock block;
  ASSERT_TRUE(reader.Next(&block).ok());
  const json line = json::parse(block.bytes.substr(0, block.bytes.find('\n')));
  EXPECT_EQ(line["trainyard_dropped"],
            json({{"evaluation", files_ / "eval/q.jsonl" + ":1"}, {"hits", 3}, {"share", 1.0}}));
  EXPECT_THAT(line["text"].get<std::string>(), HasSubstr("How many wagons q0x0"));
}

TEST_F(DecontaminationRunTest, TheOutputDoesNotDependOnThreadsAndInterruptions) {
  ASSERT_TRUE(Run("one", 1).ok());
  ASSERT_TRUE(Run("seven", 7).ok());
  EXPECT_EQ(Contents("one"), Contents("seven"));
  // The records of a killed process: the first 4 blocks.
  std::filesystem::copy(files_ / "one", files_ / "killed");
  const std::string log = ReadFile(files_ / "one/records.log");
  size_t end = 0;
  for (int i = 0; i < 4; ++i) end = log.find('\n', end) + 1;
  WriteFile(files_ / "killed/records.log", log.substr(0, end));
  std::filesystem::remove(files_ / "killed/report.json");
  ASSERT_TRUE(Run("killed", 2).ok());
  EXPECT_EQ(Contents("one"), Contents("killed"));
}

TEST_F(DecontaminationRunTest, ChangedEvaluationSetsAreAnotherRun) {
  ASSERT_TRUE(Run("out").ok());
  files_.Write("eval/r.txt", Question(101));
  const absl::Status status = Run("out").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(status.message(), HasSubstr("setting decontaminate.evaluation was "));
}

TEST_F(DecontaminationRunTest, RefusesEvaluationSetsWithoutUsableText) {
  files_.Write("eval/r.txt", "short");
  const absl::Status wrong_field = Run("out", 1, "answer").status();
  EXPECT_EQ(wrong_field.code(), absl::StatusCode::kDataLoss) << wrong_field;
  std::filesystem::remove(files_ / "eval/q.jsonl");
  const absl::Status status = Run("out").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("has at least 8 words"));
  EXPECT_FALSE(std::filesystem::exists(files_ / "out"));
}

TEST_F(DecontaminationRunTest, CanBeCancelled) {
  cancelled_ = true;
  EXPECT_EQ(Run("out").status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace trainyard::data
