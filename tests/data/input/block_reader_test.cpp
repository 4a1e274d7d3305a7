#include "data/input/block_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

std::vector<RawBlock> Blocks(const std::vector<InputFile>& files) {
  BlockReader reader(files);
  std::vector<RawBlock> blocks;
  for (;;) {
    RawBlock block;
    const auto more = reader.Next(&block);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) return blocks;
    blocks.push_back(block);
  }
}

TEST(BlockReaderTest, BlocksMakeUpTheFileAndEndWithLines) {
  const TextDirectory directory;
  std::string text;
  for (int i = 0; text.size() < 3500000; ++i) text += "line " + std::to_string(i) + "\n";
  text += "no end";
  const auto files = FindInputFiles({directory.Write("a.txt", text)});
  const std::vector<RawBlock> blocks = Blocks(*files);
  ASSERT_GE(blocks.size(), 3u);
  std::string all;
  for (const RawBlock& block : blocks) {
    EXPECT_EQ(block.offset, static_cast<int64_t>(all.size()));
    EXPECT_EQ(block.first_line, 1 + std::count(all.begin(), all.end(), '\n'));
    EXPECT_EQ(block.begins_file, all.empty());
    all += block.bytes;
    EXPECT_EQ(block.ends_file, all.size() == text.size());
    if (!block.ends_file) {
      EXPECT_EQ(block.bytes.back(), '\n');
    }
  }
  EXPECT_EQ(all, text);
}

TEST(BlockReaderTest, CutsTextWithoutLinesBetweenCharacters) {
  const TextDirectory directory;
  std::string text = "x";
  while (text.size() < 5000000) text += "\xE4\xBD\xA0";  // the limit is not a multiple of 3 bytes
  const std::vector<RawBlock> blocks = Blocks(*FindInputFiles({directory.Write("a.txt", text)}));
  ASSERT_GE(blocks.size(), 2u);
  std::string all;
  for (const RawBlock& block : blocks) {
    EXPECT_NE(static_cast<unsigned char>(block.bytes[0]) & 0xC0, 0x80);
    EXPECT_LE(block.bytes.size(), size_t{3} << 20);
    all += block.bytes;
  }
  EXPECT_EQ(all, text);
}

TEST(BlockReaderTest, NeverCutsAJsonLine) {
  const TextDirectory directory;
  const std::string line = std::string(3000000, 'x') + "\n";
  const auto blocks = Blocks(*FindInputFiles({directory.Write("a.jsonl", line + line)}));
  std::string all;
  for (const RawBlock& block : blocks) {
    EXPECT_TRUE(block.bytes.empty() || block.bytes.back() == '\n');
    all += block.bytes;
  }
  EXPECT_EQ(all, line + line);
}

TEST(BlockReaderTest, GoesFromFileToFile) {
  const TextDirectory directory;
  directory.Write("a.txt", "");
  directory.Write("b.txt", "b");
  const auto files = FindInputFiles({directory.path()});
  const std::vector<RawBlock> blocks = Blocks(*files);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_TRUE(blocks[0].begins_file && blocks[0].ends_file && blocks[0].bytes.empty());
  EXPECT_EQ(blocks[1].bytes, "b");
  EXPECT_EQ(blocks[1].file, &(*files)[1]);
}

TEST(BlockReaderTest, NamesAFileThatWentAway) {
  const TextDirectory directory;
  const auto files = FindInputFiles({directory.Write("a.txt", "text")});
  std::filesystem::remove(directory / "a.txt");
  BlockReader reader(*files);
  RawBlock block;
  EXPECT_THAT(std::string(reader.Next(&block).status().message()),
              HasSubstr("a.txt: No such file"));
}

}  // namespace
}  // namespace trainyard::data
