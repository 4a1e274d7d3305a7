#include "data/prepare/views/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/prepare/splits/prepared_data.h"
#include "tests/data/tokenizer/tokenizer_files.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

absl::StatusOr<VerifyReport> Verify(const std::string& directory,
                                    const std::atomic<bool>& cancelled = kNeverCancelled) {
  Progress progress = QuietProgress();
  return VerifyDataset({directory, true}, &progress, cancelled);
}

std::vector<std::string> ProblemsOf(const std::string& directory) {
  const auto report = Verify(directory);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? report->problems : std::vector<std::string>{"none"};
}

// Replaces one value in a JSON file.
void Change(const std::string& path, const char* key, const nlohmann::json& value) {
  nlohmann::json json = JsonFile(path);
  json[key] = value;
  WriteFile(path, json.dump());
}

void WriteVerifiedInputs(const TextDirectory& directory) {
  directory.Write("in/a.txt", Prose(100000, 1));
  directory.Write("in/b.jsonl", "{\"text\": \"a <|endoftext|> b\"}\n{\"text\": \"c</s>\"}\n");
}

TEST(VerifyTest, EveryTokenizerAndFormatIsCorrect) {
  const TextDirectory directory;
  WriteVerifiedInputs(directory);
  const std::string json =
      directory.Write("t.json", ByteLevelJson({{"t", "h"}, {"th", "e"}}).dump());
  const auto expect_correct = [&](const PrepareOptions& options) {
    const auto summary = PrepareQuietly(options);
    ASSERT_TRUE(summary.ok()) << summary.status();
    const auto report = Verify(options.out);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_THAT(report->problems, IsEmpty()) << options.tokenizer;
    EXPECT_THAT(report->text, HasSubstr("documents: correct\n"));
    EXPECT_THAT(report->text, HasSubstr("fingerprint "));
  };
  for (const std::string& tokenizer : {std::string("byte"), std::string("bpe"), json}) {
    PrepareOptions options = TrainOnly(directory, tokenizer);
    options.vocab_size = 512;
    options.val_fraction = 0.3;
    options.force = true;
    expect_correct(options);
    options.format = "megatron";
    expect_correct(options);
  }
  // The end token is chosen by its text, and occurs in the text of a document.
  PrepareOptions options = TrainOnly(directory, json);
  options.tokenizer_options.end_of_document = "the";
  options.tokenizer_options.special_text = "id";
  options.force = true;
  expect_correct(options);
  options = TrainOnly(directory, "gpt2");
  options.tokenizer_options.special_text = "id";
  options.force = true;
  expect_correct(options);
}

TEST(VerifyTest, ReportsEveryProblem) {
  const TextDirectory directory;
  WriteVerifiedInputs(directory);
  PrepareOptions options = TrainOnly(directory, "byte");
  options.val_fraction = 0.3;
  ASSERT_TRUE(PrepareQuietly(options).ok());
  std::string train = ReadFile(directory / "out/train.bin");
  train[10] ^= 1;
  directory.Write("out/train.bin", train);
  std::filesystem::remove(directory / "out/val.bin");
  Change(directory / "out/tokenizer.json", "fingerprint", "0011223344556677");
  EXPECT_THAT(
      ProblemsOf(directory / "out"),
      ElementsAre(HasSubstr("out/train.bin: the checksum is "),
                  HasSubstr("out/val.bin: is missing"),
                  HasSubstr("is 7472616e79617264 instead of 0011223344556677, so they are of "
                            "another tokenizer; copy the files of the tokenizer again")));
}

TEST(VerifyTest, ComparesTheDescriptionsOfTheTokenizer) {
  const TextDirectory directory;
  WriteVerifiedInputs(directory);
  ASSERT_TRUE(PrepareQuietly(TrainOnly(directory, "gpt2")).ok());
  const std::string path = directory / "out/tokenizer.json";
  const std::string sound = ReadFile(path);
  Change(path, "vocab_size", 50258);
  EXPECT_THAT(ProblemsOf(directory / "out"),
              ElementsAre(HasSubstr("differs from that of the train tokens (50257)"),
                          HasSubstr("differs from that of the val tokens (50257)")));
  WriteFile(path, sound);
  Change(path, "end_of_document", 7);
  EXPECT_THAT(ProblemsOf(directory / "out"),
              testing::Contains(HasSubstr("the end of documents is token 7, but that of the train "
                                          "tokens is 50256")));
  WriteFile(path, "[]");
  EXPECT_THAT(ProblemsOf(directory / "out"), ElementsAre(HasSubstr("is not a JSON object; copy")));
  std::filesystem::remove(path);
  EXPECT_THAT(ProblemsOf(directory / "out"), ElementsAre(HasSubstr("tokenizer.json: cannot open")));
}

TEST(VerifyTest, DamagedFilesOfATokenizerAreNamed) {
  const TextDirectory directory;
  WriteVerifiedInputs(directory);
  const std::string json = directory.Write("t.json", ByteLevelJson({{"t", "h"}}).dump());
  ASSERT_TRUE(PrepareQuietly(TrainOnly(directory, json)).ok());
  directory.Write("out/tokenizer/tokenizer.json", ByteLevelJson({{"t", "e"}}).dump());
  EXPECT_THAT(ProblemsOf(directory / "out"), ElementsAre(HasSubstr("of another tokenizer")));
  directory.Write("out/tokenizer/tokenizer.json", "{");
  EXPECT_THAT(ProblemsOf(directory / "out"), ElementsAre(HasSubstr("tokenizer/tokenizer.json: ")));
}

// Data sets of older versions have no fingerprint and may have no val split.
TEST(VerifyTest, OlderDataSets) {
  const TextDirectory directory;
  WriteVerifiedInputs(directory);
  ASSERT_TRUE(PrepareQuietly(TrainOnly(directory, "byte")).ok());
  directory.Write("out/tokenizer.json", "{\"kind\": \"byte\", \"vocab_size\": 257}");
  std::filesystem::remove(directory / "out/val.bin");
  std::filesystem::remove(directory / "out/val.json");
  const auto report = Verify(directory / "out");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_THAT(report->text, HasSubstr("tokenizer    byte, without a fingerprint: correct\n"));
  EXPECT_THAT(report->text, testing::Not(HasSubstr("val  ")));
}

TEST(VerifyTest, OtherDirectoriesAreErrors) {
  const TextDirectory directory;
  EXPECT_TRUE(absl::IsNotFound(Verify(directory.path()).status()));
  WriteVerifiedInputs(directory);
  ASSERT_TRUE(PrepareQuietly(TrainOnly(directory, "byte")).ok());
  const std::atomic<bool> cancelled = true;
  EXPECT_TRUE(absl::IsCancelled(Verify(directory / "out", cancelled).status()));
  directory.Write("out/train.json", "{}");
  EXPECT_TRUE(absl::IsDataLoss(Verify(directory / "out").status()));
}

}  // namespace
}  // namespace trainyard::data
