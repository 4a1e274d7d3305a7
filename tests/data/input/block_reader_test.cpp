#include "data/input/block_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "tests/data/compressed_text.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

const ReadLimits kSmall = {.block_bytes = 100, .document_bytes_max = 1000};

absl::StatusOr<std::vector<RawBlock>> TryRead(const std::vector<InputFile>& files,
                                              const ReadLimits& limits = {}) {
  BlockReader reader(files, limits);
  std::vector<RawBlock> blocks;
  for (;;) {
    RawBlock block;
    const auto more = reader.Next(&block);
    if (!more.ok()) return more.status();
    if (!*more) return blocks;
    const absl::Status loaded = LoadBlock(&block, limits);
    if (!loaded.ok()) return loaded;
    blocks.push_back(std::move(block));
  }
}

std::vector<RawBlock> Blocks(const std::vector<InputFile>& files, const ReadLimits& limits = {}) {
  auto blocks = TryRead(files, limits);
  EXPECT_TRUE(blocks.ok()) << blocks.status();
  return blocks.ok() ? *std::move(blocks) : std::vector<RawBlock>();
}

std::string ErrorOf(const std::vector<InputFile>& files, const ReadLimits& limits = {}) {
  const absl::Status status = TryRead(files, limits).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  return std::string(status.message());
}

// Checks that the blocks follow each other, and returns their bytes.
std::string Joined(const std::vector<RawBlock>& blocks) {
  std::string all;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const RawBlock& block = blocks[i];
    if (!block.bytes.empty()) {
      EXPECT_EQ(block.offset, static_cast<int64_t>(all.size()));
    }
    EXPECT_EQ(block.begins_file, i == 0);
    EXPECT_EQ(block.ends_file, i + 1 == blocks.size());
    EXPECT_GE(block.bytes.capacity(), block.bytes.size() + kBlockPadding);
    all += block.bytes;
  }
  return all;
}

// Lines of all lengths from 0 to 400 bytes, in an order that puts line ends at all positions of a
// block.
std::string ManyLines(bool last_has_end) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += std::string(static_cast<size_t>(i * 37 % 401), static_cast<char>('a' + i % 26)) + "\n";
  }
  return last_has_end ? text : text + "no end";
}

class BlockReaderTest : public testing::TestWithParam<const char*> {
 protected:
  // Returns the file with these contents, compressed by the parameter.
  std::vector<InputFile> File(const std::string& name, const std::string& text) const {
    const std::string ending = GetParam();
    const std::string bytes = ending == ".gz" ? Gzip(text) : ending == ".zst" ? Zstd(text) : text;
    auto files = FindInputFiles({directory_.Write(name + ending, bytes)});
    EXPECT_TRUE(files.ok()) << files.status();
    return *files;
  }

  const TextDirectory directory_;
};

TEST_P(BlockReaderTest, BlocksConsistOfWholeLines) {
  for (const char* name : {"a.jsonl", "a.txt"}) {
    for (const bool last_has_end : {true, false}) {
      const std::string text = ManyLines(last_has_end);
      const ReadLimits limits = {.block_bytes = 500, .document_bytes_max = 1000};
      const std::vector<InputFile> files = File(name, text);
      const std::vector<RawBlock> blocks = Blocks(files, limits);
      EXPECT_GE(blocks.size(), text.size() / 1000);
      EXPECT_EQ(Joined(blocks), text);
      for (const RawBlock& block : blocks) {
        if (block.ends_file || block.bytes.empty()) continue;
        EXPECT_EQ(block.bytes.back(), '\n');
      }
    }
  }
}

TEST_P(BlockReaderTest, LinesMayEndExactlyAtTheEndOfABlock) {
  for (const size_t length : {size_t{99}, size_t{100}, size_t{101}, size_t{199}, size_t{200}}) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += std::string(length - 1, 'x') + "\n";
    EXPECT_EQ(Joined(Blocks(File("a.jsonl", text), kSmall)), text) << length;
    EXPECT_EQ(Joined(Blocks(File("a.txt", text), kSmall)), text) << length;
  }
}

// Cuts before each '|' that is surrounded by `context` bytes of other text.
ReadLimits BarLimits(size_t block_bytes, size_t context) {
  ReadLimits limits = {.block_bytes = block_bytes, .document_bytes_max = 10000};
  limits.cuts.context = context;
  limits.cuts.find = [context](std::string_view text, size_t begin, size_t end) {
    for (size_t at = begin; at < end; ++at) {
      const size_t first = at - std::min(at, context);
      const std::string_view around = text.substr(first, at - first + context);
      if (text[at] == '|' && std::count(around.begin(), around.end(), '|') == 1) return at;
    }
    return std::string_view::npos;
  };
  return limits;
}

// Text with bars at all distances up to 1,000 bytes.
std::string BarText() {
  std::string text;
  for (int i = 0; i < 300; ++i) text += std::string(static_cast<size_t>(i * i % 1000), 'x') + "|";
  return text;
}

TEST_P(BlockReaderTest, CutsTextOnlyWhereAllowed) {
  const std::string text = BarText();
  for (const size_t context : {1, 5, 40}) {
    for (const size_t block_bytes : {100, 777, 5000}) {
      const ReadLimits limits = BarLimits(block_bytes, context);
      const std::vector<InputFile> files = File("a.txt", text);
      const std::vector<RawBlock> blocks = Blocks(files, limits);
      EXPECT_TRUE(Joined(blocks) == text);
      EXPECT_GE(blocks.size(), 10u);
      for (size_t i = 1; i < blocks.size(); ++i) {
        const auto at = static_cast<size_t>(blocks[i].offset);
        if (blocks[i].bytes.empty()) continue;
        EXPECT_EQ(limits.cuts.find(text, at, at + 1), at);
      }
    }
  }
}

TEST_P(BlockReaderTest, TextWithoutCutsHasALimit) {
  const ReadLimits limits = BarLimits(100, 5);
  const std::string whole = std::string(9500, 'x');
  EXPECT_EQ(Joined(Blocks(File("a.txt", whole), limits)), whole);
  EXPECT_THAT(ErrorOf(File("a.txt", std::string(100000, 'x')), limits),
              HasSubstr(": more than 256 MiB without"));
  EXPECT_EQ(Joined(Blocks(File("a.txt", ""), limits)), "");
}

TEST_P(BlockReaderTest, CutsTextWithoutLinesBetweenCharacters) {
  std::string text = "x";
  while (text.size() < 5000) text += "\xE4\xBD\xA0";  // the limit is not a multiple of 3 bytes
  const std::vector<RawBlock> blocks = Blocks(File("a.txt", text), kSmall);
  ASSERT_GE(blocks.size(), 10u);
  for (const RawBlock& block : blocks) {
    EXPECT_NE(static_cast<unsigned char>(block.bytes[0]) & 0xC0, 0x80);
    EXPECT_LE(block.bytes.size(), 400u);
  }
  EXPECT_EQ(Joined(blocks), text);
}

TEST_P(BlockReaderTest, NeverCutsAJsonLine) {
  const std::string line = std::string(900, 'x') + "\n";
  for (const RawBlock& block : Blocks(File("a.jsonl", line + line), kSmall)) {
    EXPECT_TRUE(block.bytes.empty() || block.bytes == line || block.bytes == line + line);
    EXPECT_FALSE(block.omitted_line);
  }
  EXPECT_EQ(Joined(Blocks(File("a.jsonl", line + line), kSmall)), line + line);
}

TEST_P(BlockReaderTest, OmitsOnlyLinesThatAreTooLong) {
  const std::string longest = std::string(999, 'l') + "\n";
  const std::string too_long = std::string(1000, 'o') + "\n";
  const std::string text = "first\n" + longest + too_long + "next\n" + too_long + longest +
                           std::string(5000, 'p') + "\nlast\n" + std::string(3000, 'q');
  std::string kept;
  std::string order;
  for (const RawBlock& block : Blocks(File("a.jsonl", text), kSmall)) {
    kept += block.bytes;
    order += block.bytes;
    if (block.omitted_line) order += "?";
  }
  EXPECT_EQ(kept, "first\n" + longest + "next\n" + longest + "last\n");
  EXPECT_EQ(order, "first\n" + longest + "?next\n?" + longest + "?last\n?");
}

TEST_P(BlockReaderTest, APodFileIsOneBlock) {
  const std::string text = ManyLines(true).substr(0, 900);
  const std::vector<RawBlock> blocks = Blocks(File("a.pod", text), kSmall);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(Joined(blocks), text);
  EXPECT_THAT(ErrorOf(File("a.pod", std::string(1001, 'x')), kSmall), HasSubstr("larger than"));
}

TEST_P(BlockReaderTest, AnEmptyFileGivesOneEmptyBlock) {
  const std::vector<RawBlock> blocks = Blocks(File("a.txt", ""));
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_TRUE(blocks[0].begins_file && blocks[0].ends_file && blocks[0].bytes.empty());
}

TEST_P(BlockReaderTest, RangesCoverTheFile) {
  const std::vector<InputFile> files = File("a.txt", Prose(3000000, 1));
  int64_t end = 0;
  for (const RawBlock& block : Blocks(files)) {
    EXPECT_EQ(block.range_begin, end);
    end = block.range_end;
  }
  EXPECT_EQ(end, files[0].bytes);
}

TEST_P(BlockReaderTest, RefusesUtf16) {
  EXPECT_THAT(ErrorOf(File("a.jsonl", std::string("\xFF\xFE{\0", 4))), HasSubstr("UTF-16 text"));
}

INSTANTIATE_TEST_SUITE_P(AllCompressions, BlockReaderTest, testing::Values("", ".gz", ".zst"));

TEST(BlockReaderFilesTest, ContinuesWithTheNextFile) {
  const TextDirectory directory;
  directory.Write("a.txt", "");
  directory.Write("b.txt", "b");
  directory.Write("c.jsonl.gz", Gzip("c"));
  directory.Write("d.txt", "d");
  const auto files = FindInputFiles({directory.path()});
  const std::vector<RawBlock> blocks = Blocks(*files);
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(blocks[1].bytes, "b");
  EXPECT_EQ(blocks[1].file, &(*files)[1]);
  EXPECT_EQ(blocks[2].bytes, "c");
  EXPECT_EQ(blocks[3].bytes, "d");
  EXPECT_EQ(blocks[3].range_begin, 0);
}

TEST(BlockReaderFilesTest, NamesAFileThatWasRemoved) {
  const TextDirectory directory;
  const auto files = FindInputFiles({directory.Write("a.txt", "text")});
  std::filesystem::remove(directory / "a.txt");
  const absl::Status status = TryRead(*files).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("a.txt: No such file"));
}

TEST(BlockReaderFilesTest, AFileThatChangesItsSizeIsAnError) {
  const TextDirectory directory;
  const auto files = FindInputFiles({directory.Write("a.jsonl", "text\n")});
  for (const char* text : {"text\nmore\n", "t\n", ""}) {
    directory.Write("a.jsonl", text);
    EXPECT_THAT(ErrorOf(*files), HasSubstr("a.jsonl: its size changed during the run"));
  }
}

TEST(BlockReaderFilesTest, DamageIsFoundBehindTheFirstBlocks) {
  const TextDirectory directory;
  const std::string bytes = Gzip(Prose(5000000, 1));
  directory.Write("a.txt.gz", bytes.substr(0, bytes.size() - 100));
  const auto files = FindInputFiles({directory.path()});
  EXPECT_THAT(ErrorOf(*files), HasSubstr("a.txt.gz: cut gzip file"));
}

}  // namespace
}  // namespace trainyard::data
