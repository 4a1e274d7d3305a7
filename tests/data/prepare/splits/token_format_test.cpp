// Prepares data in all formats and reads it as the trainer does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/data/prepare/splits/prepared_data.h"
#include "tests/data/tokenizer/tokenizer_files.h"
#include "trainer/data/data_tokenizer.h"
#include "trainer/data/token_file.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trainer::TokenFile;

// The ids of a split as the trainer reads them.
std::vector<int64_t> Tokens(const std::string& directory, const std::string& split,
                            DataFormat format) {
  const TokenFile file(directory, split, format);
  std::vector<int64_t> ids(static_cast<size_t>(file.size()));
  EXPECT_GE(file.Copy(0, file.size(), ids.data()), 0);
  return ids;
}

// Documents of which one in five is for validation.
void WriteInputs(const TextDirectory& directory) {
  std::string lines;
  for (uint64_t i = 0; i < 200; ++i) {
    lines +=
        nlohmann::json({{"text", "document " + std::to_string(i) + " " + Prose(300, i)}}).dump() +
        "\n";
  }
  directory.Write("in/a.jsonl", lines);
}

PrepareOptions FormatOptions(const TextDirectory& directory, const std::string& format) {
  PrepareOptions options = TrainOnly(directory, "gpt2", format);
  options.format = format;
  options.val_fraction = 0.2;
  return options;
}

TEST(TokenFormatTest, TheTrainerReadsTheSameTokens) {
  const TextDirectory directory;
  WriteInputs(directory);
  for (const char* format : {"trainyard", "megatron", "nanogpt"}) {
    const auto summary = PrepareQuietly(FormatOptions(directory, format));
    ASSERT_TRUE(summary.ok()) << summary.status();
    const bool is_nanogpt = std::string(format) == "nanogpt";
    EXPECT_EQ(SummaryText(*summary).find("--set data.format=nanogpt") != std::string::npos,
              is_nanogpt);
    for (const char* split : {"train", "val"}) {
      // The trainer detects every format but nanoGPT's.
      const DataFormat read_as = is_nanogpt ? DataFormat::kNanogpt : DataFormat::kAuto;
      const std::vector<int64_t> ids = Tokens(directory / format, split, read_as);
      EXPECT_GT(ids.size(), 500u);
      EXPECT_TRUE(ids == Tokens(directory / "trainyard", split, DataFormat::kTrainyard)) << format;
    }
  }
  const TokenFile megatron(directory / "megatron", "train", DataFormat::kAuto);
  EXPECT_EQ(megatron.format(), DataFormat::kMegatron);
  EXPECT_EQ(megatron.header().documents,
            TokenFile(directory / "trainyard", "train").header().documents);
  EXPECT_EQ(TokenizerOf(megatron).name, "gpt2 of 50257 ids");
}

// llm.c has the end token before each document instead of after it.
TEST(TokenFormatTest, TheTrainerReadsLlmc) {
  const TextDirectory directory;
  WriteInputs(directory);
  for (const char* format : {"trainyard", "llmc"}) {
    ASSERT_TRUE(PrepareQuietly(FormatOptions(directory, format)).ok());
  }
  for (const char* split : {"train", "val"}) {
    std::vector<int64_t> ours = Tokens(directory / "trainyard", split, DataFormat::kAuto);
    const std::vector<int64_t> llmc = Tokens(directory / "llmc", split, DataFormat::kAuto);
    ours.insert(ours.begin(), ours.back());
    ours.pop_back();
    EXPECT_EQ(ours.front(), 50256);
    EXPECT_TRUE(llmc == ours);
  }
  EXPECT_THAT(std::filesystem::exists(directory / "llmc/train_000001.bin"), true);
}

TEST(TokenFormatTest, FourBytesPerToken) {
  const TextDirectory directory;
  directory.Write("in/a.jsonl", "{\"text\": \"ab\"}\n{\"text\": \"b\"}\n");
  nlohmann::json json = ByteLevelJson({{"a", "b"}});
  json["pre_tokenizer"] = SplitRuleJson(kLlama3Pattern);
  json["model"]["ignore_merges"] = true;
  json["added_tokens"] = {{{"id", 128000}, {"content", "<|begin_of_text|>"}, {"special", true}},
                          {{"id", 128001}, {"content", "<|end_of_text|>"}, {"special", true}},
                          {{"id", 128255}, {"content", "<|last|>"}, {"special", true}}};
  const std::string tokenizer = directory.Write("tokenizer.json", json.dump());
  for (const char* format : {"trainyard", "megatron", "llmc"}) {
    PrepareOptions options = TrainOnly(directory, tokenizer, format);
    options.format = format;
    const auto summary = PrepareQuietly(options);
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(summary->tokenizer, "llama3");
  }
  const auto with_ends = ElementsAre(128000, 256, 128001, 128000, 98, 128001);
  EXPECT_THAT(Tokens(directory / "trainyard", "train", DataFormat::kAuto), with_ends);
  EXPECT_THAT(Tokens(directory / "megatron", "train", DataFormat::kAuto), with_ends);
  EXPECT_THAT(Tokens(directory / "llmc", "train", DataFormat::kAuto),
              ElementsAre(128000, 256, 128000, 98));
  EXPECT_FALSE(std::filesystem::exists(directory / "llmc/val_000001.bin"));
}

TEST(TokenFormatTest, PythonReadsMetaPkl) {
  ASSERT_EQ(std::system("python3 -c 'import pickle'"), 0) << "run `deploy/dependencies.sh test`";
  const TextDirectory directory;
  WriteInputs(directory);
  ASSERT_TRUE(PrepareQuietly(FormatOptions(directory, "nanogpt")).ok());
  const std::string program =
      "import pickle, sys\n"
      "with open(sys.argv[1] + '/meta.pkl', 'rb') as file: bytes = file.read()\n"
      "meta = pickle.loads(bytes)\n"
      "same = pickle.dumps(meta, 0) == bytes\n"
      "with open(sys.argv[1] + '/read', 'w') as file: print(meta, same, file=file)\n";
  const std::string script = directory.Write("read.py", program);
  const std::string out = directory / "nanogpt";
  ASSERT_EQ(std::system(("python3 '" + script + "' '" + out + "'").c_str()), 0);
  EXPECT_EQ(ReadFile(out + "/read"), "{'vocab_size': 50257} True\n");
}

// The limits of a format are checked before the inputs are searched.
TEST(TokenFormatTest, LimitsAreRefusedBeforeAnyWork) {
  const TextDirectory directory;
  const auto error = [&](const std::string& tokenizer, const std::string& format) {
    PrepareOptions options = TrainOnly(directory, tokenizer);
    options.inputs = {directory / "none"};
    options.format = format;
    options.vocab_size = 70000;
    const absl::Status status = PrepareQuietly(options).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(error("byte", "llmc"), HasSubstr("not for byte of 257 ids"));
  EXPECT_THAT(error("bpe", "llmc"), HasSubstr("trained on the inputs"));
  EXPECT_THAT(error("unigram", "nanogpt"), HasSubstr("up to 70000 ids"));
  EXPECT_THAT(error("byte", "parquet"), HasSubstr("--format parquet is unknown; use trainyard"));
  EXPECT_THAT(directory.Names(), ElementsAre());
}

// A first attempt without a validation split is replaced, with all its files.
TEST(TokenFormatTest, LittleTextStillValidates) {
  const TextDirectory directory;
  directory.Write("in/a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n{\"text\": \"six\"}\n");
  for (const char* format : {"megatron", "llmc"}) {
    PrepareOptions options = FormatOptions(directory, format);
    options.val_fraction = 0.0001;
    const auto summary = PrepareQuietly(options);
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(summary->val.documents, 1);
    EXPECT_EQ(Tokens(directory / format, "val", DataFormat::kAuto).size(), 2u);
    EXPECT_EQ(Tokens(directory / format, "train", DataFormat::kAuto).size(), 4u);
  }
}

}  // namespace
}  // namespace trainyard::data
