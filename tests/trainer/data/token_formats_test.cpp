// Tests that token files of other tools are read without conversion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/trainer/config/error_of.h"
#include "tests/trainer/data/foreign_tokens.h"
#include "tests/trainer/data/token_directory.h"
#include "trainer/data/token_file.h"

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;
using Tokens = std::vector<int64_t>;

const Tokens kTokens = {7, 0, 300, 50256, 12, 12, 65535, 1, 2};

Tokens TokensOf(const TokenFile& file) {
  Tokens tokens(file.size());
  file.Copy(0, file.size(), tokens.data());
  return tokens;
}

Tokens OpenedTokens(const TokenDirectory& directory, const std::string& name = "",
                    DataFormat format = DataFormat::kAuto) {
  const std::string path = name.empty() ? directory.path() : directory.path() + "/" + name;
  return TokensOf(TokenFile(path, "train", format));
}

void WriteMegatron(const TokenDirectory& directory, const std::string& stem, int code, int width) {
  directory.WriteText(stem + ".bin", LittleEndianBytes(kTokens, width));
  directory.WriteText(stem + ".idx", MegatronIndex({4, 0, 5}, code, width));
}

// Opens the directory, expects an error with this code, and returns its message.
std::string RefusalOf(const TokenDirectory& directory, ExitCode code = ExitCode::kBadData,
                      DataFormat format = DataFormat::kAuto) {
  return ErrorOf([&] { TokenFile(directory.path(), "train", format); }, code);
}

TEST(TokenFormatsTest, EveryFormatGivesTheTokensOfOurs) {
  const TokenDirectory ours;
  ours.WriteTrain({7, 0, 300, 50256, 12, 12, 65535, 1, 2}, 65536);
  EXPECT_EQ(OpenedTokens(ours), kTokens);
  const TokenDirectory nanogpt;
  nanogpt.WriteText("train.bin", LittleEndianBytes(kTokens, 2));
  EXPECT_EQ(OpenedTokens(nanogpt, "", DataFormat::kNanogpt), kTokens);
  for (const auto& [code, width] : {std::pair(8, 2), {4, 4}, {5, 8}}) {
    const TokenDirectory megatron;
    WriteMegatron(megatron, "train", code, width);
    EXPECT_EQ(OpenedTokens(megatron), kTokens) << code;
    EXPECT_EQ(OpenedTokens(megatron, "", DataFormat::kMegatron), kTokens) << code;
  }
  const TokenDirectory gpt2, llama3;
  gpt2.WriteText("train.bin", LlmcFile(kTokens, 20240520, 1, 2));
  llama3.WriteText("train.bin", LlmcFile(kTokens, 20240801, 7, 4));
  EXPECT_EQ(OpenedTokens(gpt2), kTokens);
  EXPECT_EQ(OpenedTokens(llama3, "", DataFormat::kLlmc), kTokens);
}

TEST(TokenFormatsTest, APathMayNameOneFile) {
  const TokenDirectory directory;
  WriteMegatron(directory, "c4_text_document", 8, 2);
  directory.WriteText("shakespeare.bin", LlmcFile(kTokens, 20240520, 1, 2));
  for (const char* name : {"c4_text_document", "c4_text_document.bin", "c4_text_document.idx",
                           "shakespeare", "shakespeare.bin"}) {
    EXPECT_EQ(OpenedTokens(directory, name), kTokens) << name;
  }
  const std::string file = directory.path() + "/shakespeare.bin";
  EXPECT_THAT(ErrorOf([&] { TokenFile(file, "val", DataFormat::kAuto); }, ExitCode::kNoInput),
              HasSubstr("name a data set in evaluation.sets"));
}

TEST(TokenFormatsTest, PartsAreOneRowOfTokensInTheOrderOfTheirNames) {
  const TokenDirectory directory;
  directory.WriteText("web_train_000002.bin", LlmcFile({4, 5}, 20240520, 1, 2));
  directory.WriteText("web_train_000001.bin", LlmcFile({1, 2, 3}, 20240520, 1, 2));
  directory.WriteText("web_train_000003.bin", LlmcFile({}, 20240520, 1, 2));
  directory.WriteText("web_train_000004.bin", LlmcFile({6}, 20240520, 1, 2));
  directory.WriteText("web_val_000000.bin", LlmcFile({9}, 20240520, 1, 2));
  directory.WriteText("web_untrained.bin", LlmcFile({8}, 20240520, 1, 2));
  EXPECT_EQ(OpenedTokens(directory), (Tokens{1, 2, 3, 4, 5, 6}));
  const TokenFile file(directory.path(), "train", DataFormat::kLlmc);
  for (int64_t first = 0; first <= 6; ++first) {
    for (int64_t count = 0; first + count <= 6; ++count) {
      Tokens tokens(count);
      EXPECT_EQ(file.Copy(first, count, tokens.data()), count == 0 ? 0 : first + count);
      for (int64_t i = 0; i < count; ++i) EXPECT_EQ(tokens[i], first + i + 1);
    }
  }
  directory.WriteText("web_train_000005.bin", LlmcFile({6}, 20240801, 7, 4));
  EXPECT_THAT(RefusalOf(directory),
              HasSubstr("web_train_000005.bin: the type of its tokens differs"));
}

TEST(TokenFormatsTest, NegativeTokensAreReported) {
  const TokenDirectory directory;
  directory.WriteText("train.bin", LittleEndianBytes({5, -3, 9}, 4));
  directory.WriteText("train.idx", MegatronIndex({3}, 4, 4));
  Tokens tokens(3);
  EXPECT_EQ(TokenFile(directory.path(), "train", DataFormat::kAuto).Copy(0, 3, tokens.data()), -3);
}

TEST(TokenFormatsTest, AutoRefusesWhatItCannotTell) {
  const TokenDirectory directory;
  EXPECT_THAT(RefusalOf(directory, ExitCode::kNoInput), HasSubstr("train.bin: cannot open"));
  EXPECT_THAT(
      RefusalOf(directory, ExitCode::kNoInput, DataFormat::kLlmc),
      HasSubstr("contains no .bin file with this name, or with this word in its name: `train`"));
  directory.WriteText("train.bin", LittleEndianBytes(kTokens, 2));
  EXPECT_THAT(RefusalOf(directory), HasSubstr("made by nanoGPT, which writes no header"));
  WriteMegatron(directory, "train", 8, 2);
  directory.WriteText("train.json", "{}");
  EXPECT_THAT(RefusalOf(directory), HasSubstr("in two formats"));
  EXPECT_EQ(OpenedTokens(directory, "", DataFormat::kMegatron), kTokens);
}

TEST(TokenFormatsTest, RefusesFilesOfAnotherFormatThanNamed) {
  const TokenDirectory directory;
  directory.WriteText("train.bin", LlmcFile(kTokens, 20240520, 1, 2));
  EXPECT_THAT(RefusalOf(directory, ExitCode::kBadData, DataFormat::kNanogpt),
              HasSubstr("nanoGPT's files have none"));
  EXPECT_THAT(RefusalOf(directory, ExitCode::kNoInput, DataFormat::kMegatron),
              HasSubstr("train.idx: cannot open"));
  directory.WriteText("train.bin", "123");
  EXPECT_THAT(RefusalOf(directory, ExitCode::kBadData, DataFormat::kNanogpt),
              HasSubstr("not a whole number of uint16"));
  EXPECT_THAT(RefusalOf(directory, ExitCode::kBadData, DataFormat::kLlmc),
              HasSubstr("not a token file of llm.c"));
}

TEST(TokenFormatsTest, RefusesUint32InFilesOfNanogpt) {
  const TokenDirectory directory;
  Tokens ids;
  for (int64_t i = 0; i < 500; ++i) ids.push_back(i * 37 % 100000);
  directory.WriteText("train.bin", LittleEndianBytes(ids, 4));
  EXPECT_THAT(RefusalOf(directory, ExitCode::kBadData, DataFormat::kNanogpt),
              HasSubstr("seems to contain uint32, because every second uint16 is nearly 0"));
  const auto accepts = [&](const Tokens& tokens) {
    directory.WriteText("train.bin", LittleEndianBytes(tokens, 2));
    return OpenedTokens(directory, "", DataFormat::kNanogpt) == tokens;
  };
  EXPECT_TRUE(accepts(Tokens(500, 0)));
  EXPECT_TRUE(accepts(Tokens(500, 16)));
  EXPECT_TRUE(accepts(Tokens(ids.begin(), ids.begin() + 400)));
  // One large value at an odd place, and too few values.
  Tokens alternating;
  for (int64_t i = 0; i < 500; ++i) alternating.push_back(i % 2 == 0 ? 1000 : i == 301 ? 16 : 1);
  EXPECT_TRUE(accepts(alternating));
  EXPECT_TRUE(accepts(Tokens(alternating.begin(), alternating.begin() + 126)));
}

TEST(TokenFormatsTest, RefusesDamagedFilesOfLlmc) {
  const TokenDirectory directory;
  const std::string sound = LlmcFile(kTokens, 20240520, 1, 2);
  const auto expect = [&](const std::string& bytes, const char* part) {
    directory.WriteText("train.bin", bytes);
    EXPECT_THAT(RefusalOf(directory), HasSubstr(part));
  };
  expect(sound.substr(0, sound.size() - 1), "which declares 9 tokens of 2 bytes");
  expect(sound + "x", "which declares 9 tokens");
  expect(sound.substr(0, 1000), "but the header alone has 1024 bytes");
  expect(LlmcFile(kTokens, 20240520, 2, 2), "is a token file of llm.c of version 2");
  expect(LlmcFile(kTokens, 20240801, 1, 4), "this program reads only version 7");
  std::string negative = sound;
  negative.replace(8, 4, "\xff\xff\xff\xff");
  expect(negative, "declares -1 tokens");
}

TEST(TokenFormatsTest, RefusesDamagedIndexesOfMegatron) {
  const TokenDirectory directory;
  WriteMegatron(directory, "train", 8, 2);
  const std::string sound = MegatronIndex({4, 0, 5}, 8, 2);
  const auto expect = [&](const std::string& index, const char* part) {
    directory.WriteText("train.idx", index);
    EXPECT_THAT(RefusalOf(directory), HasSubstr(part));
  };
  const auto with = [&](size_t place, const std::string& bytes) {
    return std::string(sound).replace(place, bytes.size(), bytes);
  };
  expect("", "does not begin with MMIDIDX");
  expect(with(0, "X"), "does not begin with MMIDIDX");
  expect(with(0, std::string("TNTIDX\0\0", 8)), "--dataset-impl mmap");
  expect(sound.substr(0, 20), "fewer than the header");
  expect(with(9, "\x02"), "is an index of version 2");
  expect(with(17, "\x06"), "token type code 6");
  expect(with(18, "\xff\xff\xff\xff\xff\xff\xff\xff"), "declares 18446744073709551615 sequences");
  expect(with(26, "\xff\xff\xff\xff\xff\xff\xff\x7f"), "truncated or damaged");
  expect(sound.substr(0, sound.size() - 8), "truncated or damaged");
  expect(sound + std::string(3, '\0'), "multimodal");
  expect(with(34, "\x05"), "sequence 1 has 0 tokens from byte 8");
  expect(with(34, "\xff\xff\xff\xff"), "sequence 0 has -1 tokens");
  expect(with(46, "\x02"), "sequence 0 has 4 tokens from byte 2");
  expect(with(70, "\x01"), "document 0 begins at sequence 1 of 3");
  expect(with(78, "\x09"), "document 1 begins at sequence 9");
  expect(with(94, "\x02"), "its documents end at sequence 2 of 3");
  expect(MegatronIndex({4, 0, 6}, 8, 2), "its index declares more than that");
  expect(MegatronIndex({4, 0, 4}, 8, 2), "has 18 bytes, but its index declares 16");
  directory.WriteText("train.idx", sound);
  EXPECT_EQ(OpenedTokens(directory), kTokens);
  std::filesystem::remove(directory.path() + "/train.bin");
  EXPECT_THAT(RefusalOf(directory, ExitCode::kNoInput), HasSubstr("train.bin: cannot open"));
}

// Opens damaged files of all kinds. Each must be rejected with a TrainerError or return tokens that
// are in the file. The sanitizer build detects reads outside of the file.
TEST(TokenFormatsTest, NoDamageToAHeaderCrashes) {
  uint64_t random = 1;
  const auto pick = [&random](uint64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % below;
  };
  const std::string index = MegatronIndex({4, 0, 5}, 8, 2),
                    file = LlmcFile(kTokens, 20240520, 1, 2);
  const TokenDirectory megatron, llmc;
  WriteMegatron(megatron, "train", 8, 2);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const bool is_index = round % 2 == 0;
    std::string bytes = is_index ? index : file;
    for (uint64_t i = pick(4); i > 0; --i)
      bytes[pick(is_index ? bytes.size() : 16)] = "\0\1\x7f\xff"[pick(4)];
    if (pick(4) == 0) bytes.resize(pick(bytes.size() + 20));
    const TokenDirectory& directory = is_index ? megatron : llmc;
    directory.WriteText(is_index ? "train.idx" : "train.bin", bytes);
    try {
      const DataFormat format = is_index ? DataFormat::kMegatron : DataFormat::kLlmc;
      EXPECT_LE(OpenedTokens(directory, "", format).size(), 16u);
    } catch (const TrainerError& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadData) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 3000);
}

}  // namespace
}  // namespace trainyard::trainer
