#include "data/tokens/llmc_shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/data/text_directory.h"
#include "tests/data/tokens/vocab_only.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int32_t> HeaderOf(const std::string& path) {
  const std::string bytes = ReadFile(path);
  std::vector<int32_t> numbers(256);
  if (bytes.size() < 1024) return {};
  std::memcpy(numbers.data(), bytes.data(), 1024);
  for (size_t i = 3; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], 0);
  numbers.resize(3);
  return numbers;
}

TEST(LlmcShardsTest, FilesHaveAFixedNumberOfTokens) {
  const TextDirectory directory;
  LlmcShards shards(directory.path(), "train", *FindLlmcVariant(VocabOnly(50257, "gpt2")), 5);
  ASSERT_TRUE(shards.Write("aabbcc").ok());
  ASSERT_TRUE(shards.Write("ddeeffgghhiijjkkll").ok());
  const auto files = shards.Finish();
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(directory.Names(),
              ElementsAre("train_000001.bin", "train_000002.bin", "train_000003.bin"));
  EXPECT_EQ(ReadFile(directory / "train_000001.bin").substr(1024), "aabbccddee");
  EXPECT_EQ(ReadFile(directory / "train_000002.bin").substr(1024), "ffgghhiijj");
  EXPECT_EQ(ReadFile(directory / "train_000003.bin").substr(1024), "kkll");
  EXPECT_THAT(HeaderOf(directory / "train_000001.bin"), ElementsAre(20240520, 1, 5));
  EXPECT_THAT(HeaderOf(directory / "train_000003.bin"), ElementsAre(20240520, 1, 2));
  ASSERT_EQ(files->size(), 3u);
  EXPECT_EQ((*files)[2].name, "train_000003.bin");
  EXPECT_EQ((*files)[2].bytes, 1028);
  EXPECT_EQ((*files)[2].token_from, 1024);
}

TEST(LlmcShardsTest, Llama3HasFourBytesPerToken) {
  const TextDirectory directory;
  LlmcShards shards(directory.path(), "val", *FindLlmcVariant(VocabOnly(128256, "llama3")), 2);
  ASSERT_TRUE(shards.Write("aaaabbbb").ok());
  ASSERT_TRUE(shards.Finish().ok());
  EXPECT_THAT(directory.Names(), ElementsAre("val_000001.bin"));
  EXPECT_THAT(HeaderOf(directory / "val_000001.bin"), ElementsAre(20240801, 7, 2));
}

TEST(LlmcShardsTest, ASplitWithoutTokensHasNoFile) {
  const TextDirectory directory;
  LlmcShards shards(directory.path(), "val", *FindLlmcVariant(VocabOnly(50257, "gpt2")), 5);
  ASSERT_TRUE(shards.Write("").ok());
  const auto files = shards.Finish();
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(*files, IsEmpty());
  EXPECT_THAT(directory.Names(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::data
