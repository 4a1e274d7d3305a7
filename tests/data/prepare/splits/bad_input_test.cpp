// Tests of `data prepare` with damaged and unusable inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/prepare/splits/prepare.h"
#include "tests/data/compressed_text.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::atomic<bool> kRunning = false;

class BadInputTest : public testing::Test {
 protected:
  BadInputTest() {
    options_.inputs = {directory_ / "in"};
    options_.out = directory_ / "out";
    options_.jobs = 2;
  }

  absl::StatusOr<DataSummary> Run() {
    Progress progress({false, nullptr, [] { return 0.0; }});
    return PrepareData(options_, &progress, kRunning);
  }

  // Returns the error of a run that must fail and leave nothing behind.
  std::string Error() {
    const absl::Status status = Run().status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(directory_.Names(), ElementsAre("in"));
    return std::string(status.message());
  }

  // Writes `good` usable lines with `bad` among them.
  void WriteLines(int good, const std::string& bad) {
    std::string lines;
    for (int i = 0; i < good; ++i) {
      lines += nlohmann::json({{"text", Prose(50, static_cast<uint64_t>(i))}}).dump() + "\n";
      if (i == 9) lines += bad;
    }
    directory_.Write("in/a.jsonl", lines);
  }

  const TextDirectory directory_;
  PrepareOptions options_;
};

TEST_F(BadInputTest, AFewBadLinesAreSkippedAndListed) {
  WriteLines(5000, "{\"text\":null}\n\n{\"text\":\"\xFF\"}\n");
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->train.documents + summary->val.documents, 5000);
  EXPECT_EQ(summary->bad_lines, "2 of 5002 lines skipped: 1 with null in the field, 1 not UTF-8");
  const std::string list = ReadFile(directory_ / "out/bad.jsonl");
  EXPECT_THAT(list, HasSubstr("in/a.jsonl\",\"line\":11,\"kind\":\"field_null\""));
  EXPECT_THAT(list, HasSubstr("in/a.jsonl\",\"line\":13,\"kind\":\"not_utf8\""));
}

TEST_F(BadInputTest, GoodInputHasNoList) {
  WriteLines(100, "");
  ASSERT_TRUE(Run().ok());
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out/bad.jsonl"));
}

TEST_F(BadInputTest, MoreBadLinesStopTheRun) {
  WriteLines(100, "bad\n");
  EXPECT_THAT(Error(), AllOf(HasSubstr("1 of 101 lines are bad, first "),
                             HasSubstr("in/a.jsonl:11: not valid JSON")));
  options_.bad_fraction = 0.01;
  EXPECT_TRUE(Run().ok());
}

TEST_F(BadInputTest, AWrongFieldIsNamedWithEveryTokenizer) {
  WriteLines(500, "");
  options_.field = "body";
  for (const char* tokenizer : {"byte", "bpe"}) {
    options_.tokenizer = tokenizer;
    EXPECT_THAT(Error(), HasSubstr("in/a.jsonl:1: no field \"body\"; pass the name"));
  }
}

TEST_F(BadInputTest, StopRefusesTheFirstBadLine) {
  WriteLines(5000, "bad\n");
  options_.bad = "stop";
  EXPECT_THAT(Error(), HasSubstr("in/a.jsonl:11: not valid JSON"));
}

TEST_F(BadInputTest, ReplacedBytesAreCounted) {
  WriteLines(5000, "{\"text\":\"\xFF\"}\n");
  directory_.Write("in/b.txt", "latin caf\xE9");
  EXPECT_THAT(Error(), HasSubstr("in/b.txt: not UTF-8 at byte 9 (0xe9)"));
  options_.utf8 = "replace";
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->repaired, 2);
  EXPECT_EQ(summary->bad_lines, "");
  EXPECT_EQ(summary->train.documents + summary->val.documents, 5002);
}

TEST_F(BadInputTest, ADamagedCompressedFileStopsTheRun) {
  WriteLines(5000, "");
  const std::string bytes = Gzip(Prose(5000000, 1));
  directory_.Write("in/b.txt.gz", bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(Error(), HasSubstr("in/b.txt.gz: cut gzip file"));
  directory_.Write("in/b.txt.gz", bytes + "garbage");
  EXPECT_THAT(Error(), HasSubstr("in/b.txt.gz: bytes after the end of the gzip data"));
}

TEST_F(BadInputTest, Utf16IsRefused) {
  WriteLines(5000, "");
  directory_.Write("in/b.jsonl", std::string("\xFF\xFE{\0", 4));
  EXPECT_THAT(Error(), HasSubstr("in/b.jsonl: UTF-16 text"));
}

TEST_F(BadInputTest, CompressedFilesGiveTheSameTokens) {
  std::string lines;
  for (uint64_t i = 0; i < 3000; ++i) {
    lines += nlohmann::json({{"text", Prose(900, i)}}).dump() + "\n";
  }
  const std::vector<std::pair<std::string, std::string>> files = {
      {"in/a.jsonl", lines}, {"in/a.jsonl.gz", Gzip(lines)}, {"in/a.jsonl.zst", Zstd(lines)}};
  std::string plain;
  options_.force = true;
  for (const auto& [name, bytes] : files) {
    std::filesystem::remove_all(directory_ / "in");
    directory_.Write(name, bytes);
    ASSERT_TRUE(Run().ok());
    const std::string tokens = ReadFile(directory_ / "out/train.bin");
    if (plain.empty()) plain = tokens;
    EXPECT_TRUE(tokens == plain) << name;
  }
}

}  // namespace
}  // namespace trainyard::data
