#include "data/tokens/token_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/data/text_directory.h"
#include "tests/data/tokens/vocab_only.h"

namespace trainyard::data {
namespace {

// Packs and appends tokens, and adds their counts.
void Append(TokenWriter* writer, int64_t vocab_size, const std::vector<uint32_t>& tokens,
            int64_t source_bytes) {
  TokenPacker packer(vocab_size);
  std::string packed;
  packer.Pack(tokens, &packed);
  EXPECT_TRUE(writer->Append(packed, source_bytes).ok());
  writer->AddCounts(packer.counts());
}

TEST(TokenWriterTest, WritesTokensAndHeader) {
  const TextDirectory directory;
  const auto writer = TokenWriter::Create(directory.path(), "train", VocabOnly(300));
  ASSERT_TRUE(writer.ok()) << writer.status();
  Append(writer->get(), 300, {1, 258}, 9);
  ASSERT_TRUE((*writer)->EndDocument().ok());
  Append(writer->get(), 300, {1}, 1);
  const auto totals = (*writer)->Finish();
  ASSERT_TRUE(totals.ok()) << totals.status();
  EXPECT_EQ(ReadFile(directory / "train.bin"), std::string("\1\0\2\1\x2b\1\1\0", 8));
  EXPECT_EQ(totals->tokens, 4);
  EXPECT_EQ(totals->documents, 1);
  EXPECT_EQ(totals->source_bytes, 10);
  EXPECT_DOUBLE_EQ(totals->unigram_entropy, 1.5 * std::log(2.0));
  const nlohmann::json header = nlohmann::json::parse(ReadFile(directory / "train.json"));
  EXPECT_EQ(header["format"], "trainyard-tokens");
  EXPECT_EQ(header["version"], 1);
  EXPECT_EQ(header["dtype"], "uint16");
  EXPECT_EQ(header["tokens"], 4);
  EXPECT_EQ(header["vocab_size"], 300);
  EXPECT_EQ(header["documents"], 1);
  EXPECT_EQ(header["source_bytes"], 10);
  EXPECT_EQ(header["end_of_document"], 299);
  EXPECT_EQ(header["xxh64"].get<std::string>().size(), 16u);
  EXPECT_DOUBLE_EQ(header["unigram_entropy"], totals->unigram_entropy);
}

TEST(TokenWriterTest, TakesFourBytesForALargeVocabulary) {
  const TextDirectory directory;
  const auto writer = TokenWriter::Create(directory.path(), "val", VocabOnly(65537));
  Append(writer->get(), 65537, {65536, 2}, 1);
  ASSERT_TRUE((*writer)->Finish().ok());
  EXPECT_EQ(ReadFile(directory / "val.bin"), std::string("\0\0\1\0\2\0\0\0", 8));
  EXPECT_EQ(nlohmann::json::parse(ReadFile(directory / "val.json"))["dtype"], "uint32");
  EXPECT_EQ(nlohmann::json::parse(ReadFile(directory / "val.json"))["unigram_entropy"],
            std::log(2.0));
}

TEST(TokenWriterTest, PartsOfAllSizesStayInOrder) {
  const TextDirectory directory;
  const auto writer = TokenWriter::Create(directory.path(), "train", VocabOnly(70000));
  std::string expected;
  TokenPacker packer(70000);
  uint32_t next = 0;
  for (const size_t count : {size_t{1}, size_t{300000}, size_t{2}, size_t{262143}, size_t{5}}) {
    std::vector<uint32_t> tokens(count);
    for (uint32_t& token : tokens) token = next++ % 70000;
    packer.Pack(tokens, &expected);
    Append(writer->get(), 70000, tokens, 1);
  }
  ASSERT_TRUE((*writer)->Finish().ok());
  EXPECT_TRUE(ReadFile(directory / "train.bin") == expected);
}

TEST(TokenWriterTest, AnEmptySplitIsValid) {
  const TextDirectory directory;
  const auto writer = TokenWriter::Create(directory.path(), "val", VocabOnly(300));
  ASSERT_TRUE((*writer)->Finish().ok());
  EXPECT_EQ(ReadFile(directory / "val.bin"), "");
  EXPECT_EQ(nlohmann::json::parse(ReadFile(directory / "val.json"))["unigram_entropy"], 0.0);
}

}  // namespace
}  // namespace trainyard::data
