#include "data/prepare/splits/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "data/tokenizer/byte_tokenizer.h"
#include "data/tokenizer/sentencepiece_tokenizer.h"
#include "tests/data/compressed_text.h"
#include "tests/data/text_directory.h"
#include "tests/fakes/full_disk.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::atomic<bool> kNotCancelled = false;

absl::StatusOr<DataSummary> Prepare(const PrepareOptions& options,
                                    const std::atomic<bool>& cancelled = kNotCancelled) {
  Progress progress({false, nullptr, [] { return 0.0; }});
  return PrepareData(options, &progress, cancelled);
}

PrepareOptions Options(const TextDirectory& directory, const std::string& out = "out") {
  PrepareOptions options;
  options.inputs = {directory / "in"};
  options.out = directory / out;
  options.jobs = 2;
  return options;
}

// Writes 300 documents of one line each.
void WriteDocuments(const TextDirectory& directory) {
  std::string lines;
  for (int i = 0; i < 300; ++i) {
    lines +=
        nlohmann::json({{"text", "document " + std::to_string(i) + " " + Prose(200, i)}}).dump() +
        "\n";
  }
  directory.Write("in/a.jsonl", lines);
}

std::vector<uint32_t> Tokens(const std::string& path) {
  const std::string bytes = ReadFile(path);
  std::vector<uint32_t> tokens;
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    tokens.push_back(static_cast<unsigned char>(bytes[i]) | static_cast<unsigned char>(bytes[i + 1])
                                                                << 8);
  }
  return tokens;
}

// Returns the decoded documents of a split.
std::vector<std::string> Documents(const std::string& path, const Tokenizer& tokenizer) {
  std::vector<std::string> documents;
  std::vector<uint32_t> ids;
  for (const uint32_t token : Tokens(path)) {
    if (token != tokenizer.end_of_document()) {
      ids.push_back(token);
      continue;
    }
    documents.push_back(tokenizer.Decode(ids));
    ids.clear();
  }
  EXPECT_TRUE(ids.empty()) << "the last document has no end";
  return documents;
}

TEST(PrepareDataTest, EveryDocumentIsInOneSplitWhole) {
  const TextDirectory directory;
  WriteDocuments(directory);
  const auto summary = Prepare(Options(directory));
  ASSERT_TRUE(summary.ok()) << summary.status();
  const auto tokenizer = MakeByteTokenizer();
  const auto train = Documents(directory / "out/train.bin", *tokenizer);
  const auto val = Documents(directory / "out/val.bin", *tokenizer);
  std::set<std::string> all(train.begin(), train.end());
  all.insert(val.begin(), val.end());
  EXPECT_EQ(all.size(), 300u);
  EXPECT_EQ(train.size() + val.size(), 300u);
  EXPECT_TRUE(all.count("document 17 " + Prose(200, 17)));
  EXPECT_GE(val.size(), 3u);  // about 15 of 300 are expected
  EXPECT_LE(val.size(), 40u);
  EXPECT_EQ(summary->train.documents, static_cast<int64_t>(train.size()));
  EXPECT_EQ(summary->val.documents, static_cast<int64_t>(val.size()));
  EXPECT_EQ(summary->directory, directory / "out");
  EXPECT_EQ(ReadFile(directory / "out/tokenizer.json"),
            "{\n  \"kind\": \"byte\",\n  \"name\": \"byte\",\n  \"vocab_size\": 257,\n"
            "  \"fingerprint\": \"7472616e79617264\",\n  \"end_of_document\": 256\n}\n");
  EXPECT_THAT(directory.Names(), ElementsAre("in", "out"));
}

// Files of all kinds, of several blocks each, with bad lines.
void WriteAllKinds(const TextDirectory& directory) {
  WriteDocuments(directory);
  directory.Write("in/b.txt", Prose(1500000, 5));
  directory.Write("in/c.pod", "=head1 NAME\n\n" + Prose(90000, 6));
  directory.Write("in/d.txt.gz", Gzip(Prose(1500000, 7)) + Gzip(Prose(10, 8)));
  std::string lines;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = Prose(static_cast<size_t>(i * 131 % 1000), static_cast<uint64_t>(i));
    lines += nlohmann::json({{"text", text}}).dump() + "\n";
    if (i % 500 == 7) lines += "bad line " + std::to_string(i) + "\n";
  }
  directory.Write("in/e.jsonl", lines + nlohmann::json({{"text", Prose(2000000, 9)}}).dump());
  directory.Write("in/f.jsonl.zst", Zstd(lines));
}

TEST(PrepareDataTest, TheNumberOfThreadsChangesNothing) {
  const TextDirectory directory;
  WriteAllKinds(directory);
  for (const int jobs : {1, 2, 7}) {
    PrepareOptions options = Options(directory, std::to_string(jobs));
    options.tokenizer = "bpe";
    options.vocab_size = 512;
    options.bad_fraction = 0.01;
    options.jobs = jobs;
    const auto summary = Prepare(options);
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(summary->bad_lines, "16 of 8317 lines skipped: 16 not JSON");
  }
  for (const char* name : {"train.bin", "train.json", "val.bin", "val.json", "tokenizer.json",
                           "tokenizer.model", "bad.jsonl"}) {
    const std::string one = ReadFile(directory / ("1/" + std::string(name)));
    EXPECT_FALSE(one.empty()) << name;
    EXPECT_TRUE(one == ReadFile(directory / ("2/" + std::string(name)))) << name;
    EXPECT_TRUE(one == ReadFile(directory / ("7/" + std::string(name)))) << name;
  }
}

TEST(PrepareDataTest, OneLargeFileIsSplitAndStaysInOrder) {
  const TextDirectory directory;
  const std::string text = Prose(3000000, 9);
  directory.Write("in/big.txt", text);
  const auto summary = Prepare(Options(directory));
  ASSERT_TRUE(summary.ok()) << summary.status();
  const int64_t all = static_cast<int64_t>(text.size());
  EXPECT_EQ(summary->train.source_bytes + summary->val.source_bytes, all);
  EXPECT_NEAR(static_cast<double>(summary->val.source_bytes), 0.05 * all, 0.05 * all);
  const auto tokenizer = MakeByteTokenizer();
  size_t from = 0;
  for (const std::string& part : Documents(directory / "out/train.bin", *tokenizer)) {
    const size_t at = text.find(part, from);
    ASSERT_NE(at, std::string::npos);
    from = at + part.size();
  }
}

TEST(PrepareDataTest, LittleTextStillValidates) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "the first document");
  directory.Write("in/b.txt", "the second document");
  for (const double fraction : {0.0001, 0.9}) {
    PrepareOptions options = Options(directory, std::to_string(fraction));
    options.val_fraction = fraction;
    const auto summary = Prepare(options);
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(summary->train.documents, 1);
    EXPECT_EQ(summary->val.documents, 1);
  }
}

TEST(PrepareDataTest, ValidationCanBeTurnedOff) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "only one");
  const auto refused = Prepare(Options(directory));
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("--val-fraction 0"));
  PrepareOptions options = Options(directory);
  options.val_fraction = 0;
  const auto summary = Prepare(options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->train.tokens, 9);
  EXPECT_EQ(summary->val.tokens, 0);
}

TEST(PrepareDataTest, SentencePieceRoundTrips) {
  const TextDirectory directory;
  const std::string text = Prose(100000, 3) + "\n\n  odd \xC3\xA9 text\n";
  directory.Write("in/a.md", text);
  PrepareOptions options = Options(directory);
  options.tokenizer = "unigram";
  options.vocab_size = 600;
  options.val_fraction = 0;
  const auto summary = Prepare(options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  const auto description = nlohmann::json::parse(ReadFile(directory / "out/tokenizer.json"));
  EXPECT_EQ(description["kind"], "sentencepiece");
  EXPECT_EQ(description["vocab_size"], summary->vocab_size);
  std::string error;
  const auto tokenizer = MakeSentencePieceTokenizer(
      ReadFile(directory / ("out/" + description["model"].get<std::string>())), &error);
  ASSERT_NE(tokenizer, nullptr) << error;
  EXPECT_THAT(Documents(directory / "out/train.bin", *tokenizer), ElementsAre(text));
}

TEST(PrepareDataTest, FailuresLeaveNothingBehind) {
  const TextDirectory directory;
  directory.Write("in/a.txt", Prose(5000, 1));
  directory.Write("in/bad.txt", "fine until \xFF here");
  const auto bad = Prepare(Options(directory));
  EXPECT_TRUE(absl::IsDataLoss(bad.status())) << bad.status();
  EXPECT_THAT(std::string(bad.status().message()), HasSubstr("bad.txt: not UTF-8 at byte 11"));
  const std::atomic<bool> cancelled = true;
  EXPECT_TRUE(absl::IsCancelled(Prepare(Options(directory), cancelled).status()));
  EXPECT_THAT(directory.Names(), ElementsAre("in"));
}

TEST(PrepareDataTest, EmptyInputIsAnError) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "");
  directory.Write("in/b.jsonl", "\n{\"text\":\"\"}\n");
  for (const char* tokenizer : {"byte", "bpe"}) {
    PrepareOptions options = Options(directory);
    options.tokenizer = tokenizer;
    EXPECT_THAT(std::string(Prepare(options).status().message()), HasSubstr("contain no text"));
  }
  EXPECT_THAT(directory.Names(), ElementsAre("in"));
}

TEST(PrepareDataTest, AFullDiskLeavesNothingBehind) {
  const TextDirectory directory;
  directory.Write("in/a.txt", Prose(3000000, 1));
  const auto summary = [&] {
    const FullDisk full(1000000);
    return Prepare(Options(directory));
  }();
  EXPECT_THAT(std::string(summary.status().message()), HasSubstr("train.bin: File too large"));
  EXPECT_THAT(directory.Names(), ElementsAre("in"));
}

}  // namespace
}  // namespace trainyard::data
