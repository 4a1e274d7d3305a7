// The text that is used for validation: named files, or whole documents chosen by hash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/tokenizer/byte_tokenizer.h"
#include "tests/data/compressed_text.h"
#include "tests/data/prepare/splits/prepared_data.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Documents(const std::string& stem) {
  const auto tokenizer = MakeByteTokenizer();
  std::vector<std::string> documents;
  std::vector<uint32_t> ids;
  for (const uint32_t id : IdsOf(stem)) {
    if (id != tokenizer->end_of_document()) {
      ids.push_back(id);
      continue;
    }
    documents.push_back(tokenizer->Decode(ids));
    ids.clear();
  }
  return documents;
}

TEST(HeldOutTest, ValidationUsesTheNamedFiles) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "first");
  directory.Write("in/b.jsonl", "{\"text\": \"second\"}\n{\"text\": \"third\"}\n");
  directory.Write("val/c.txt.gz", Gzip("held out"));
  directory.Write("d.jsonl", "{\"text\": \"also\"}\n");
  PrepareOptions options = TrainOnly(directory, "byte");
  options.val = {directory / "val", directory / "d.jsonl"};
  options.val_fraction = 0.9;  // is ignored
  const auto summary = PrepareQuietly(options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->files, 4);
  EXPECT_THAT(Documents(directory / "out/train"), ElementsAre("first", "second", "third"));
  EXPECT_THAT(Documents(directory / "out/val"), ElementsAre("also", "held out"));
}

TEST(HeldOutTest, NamedFilesAreNeverUsedForTraining) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "first");
  directory.Write("in/val.txt", "held out");
  std::filesystem::create_symlink(directory / "in/val.txt", directory / "link.txt");
  PrepareOptions options = TrainOnly(directory, "byte");
  options.val = {directory / "link.txt"};
  ASSERT_TRUE(PrepareQuietly(options).ok());
  EXPECT_THAT(Documents(directory / "out/train"), ElementsAre("first"));
  EXPECT_THAT(Documents(directory / "out/val"), ElementsAre("held out"));
}

// The text that trains a tokenizer does not contain that of --val, and contains all inputs.
TEST(HeldOutTest, TokenizersAreNotTrainedOnNamedFiles) {
  const TextDirectory directory;
  directory.Write("in/a.txt", Prose(200000, 1));
  directory.Write("val/b.txt", "zzzz qqqq " + Prose(50000, 2));
  PrepareOptions options = TrainOnly(directory, "bpe", "named");
  options.vocab_size = 512;
  const auto without = PrepareQuietly(options);
  ASSERT_TRUE(without.ok()) << without.status();
  options.out = directory / "out";
  options.val = {directory / "val"};
  options.val_fraction = 0.5;
  ASSERT_TRUE(PrepareQuietly(options).ok());
  EXPECT_TRUE(ReadFile(directory / "out/tokenizer.model") ==
              ReadFile(directory / "named/tokenizer.model"));
}

TEST(HeldOutTest, BothKindsOfFilesNeedText) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "first");
  directory.Write("empty.txt", "");
  const auto error = [&](const std::string& input, const std::string& val) {
    PrepareOptions options = TrainOnly(directory, "byte");
    options.inputs = {directory / input};
    options.val = {directory / val};
    return std::string(PrepareQuietly(options).status().message());
  };
  EXPECT_THAT(error("in", "empty.txt"), HasSubstr("the files of --val contain no text"));
  EXPECT_THAT(error("empty.txt", "in"), HasSubstr("the inputs contain no text"));
  EXPECT_THAT(error("in", "in/a.txt"), HasSubstr("all inputs are also files of --val"));
  EXPECT_THAT(error("in", "none.txt"), HasSubstr("none.txt: No such file"));
  EXPECT_THAT(directory.Names(), ElementsAre("empty.txt", "in"));
}

// Bad lines of both kinds of files count together.
TEST(HeldOutTest, BadLinesOfNamedFilesAreListed) {
  const TextDirectory directory;
  directory.Write("in/a.jsonl", "{\"text\": \"first\"}\nbad\n");
  directory.Write("val.jsonl", "bad\n{\"text\": \"held out\"}\n");
  PrepareOptions options = TrainOnly(directory, "byte");
  options.val = {directory / "val.jsonl"};
  options.bad_fraction = 0.5;
  const auto summary = PrepareQuietly(options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->bad_lines, "2 of 4 lines skipped: 2 not JSON");
  EXPECT_THAT(ReadFile(directory / "out/bad.jsonl"), HasSubstr("val.jsonl\",\"line\":1,"));
}

// Writes files of plain text of 100 kB each.
void WriteFiles(const TextDirectory& directory, int files) {
  for (int i = 0; i < files; ++i) {
    directory.Write("in/" + std::to_string(i) + ".txt", Prose(100000, static_cast<uint64_t>(i)));
  }
}

TEST(HeldOutTest, FilesAreHeldOutWholeIfThereAreEnough) {
  const TextDirectory directory;
  WriteFiles(directory, 120);
  PrepareOptions options = TrainOnly(directory, "byte");
  options.val_fraction = 0.2;  // 24 files
  const auto summary = PrepareQuietly(options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->train.documents + summary->val.documents, 120);
  EXPECT_NEAR(static_cast<double>(summary->val.documents), 24, 14);
  for (const std::string& document : Documents(directory / "out/val")) {
    EXPECT_GE(document.size(), 100000u);
  }
}

TEST(HeldOutTest, FewFilesAreSplit) {
  const TextDirectory directory;
  WriteFiles(directory, 20);
  PrepareOptions options = TrainOnly(directory, "byte");
  options.val_fraction = 0.2;  // 4 files, which would be a poor sample
  const auto summary = PrepareQuietly(options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  const double all = static_cast<double>(summary->train.source_bytes + summary->val.source_bytes);
  EXPECT_NEAR(static_cast<double>(summary->val.source_bytes), 0.2 * all, 0.12 * all);
  for (const std::string& document : Documents(directory / "out/val")) {
    EXPECT_LT(document.size(), 100000u);
  }
}

}  // namespace
}  // namespace trainyard::data
