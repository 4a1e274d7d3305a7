#include "data/input/decompressor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "tests/data/compressed_text.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

class DecompressorTest : public testing::TestWithParam<Compression> {
 protected:
  static std::string Compress(const std::string& text) {
    return GetParam() == Compression::kGzip ? Gzip(text) : Zstd(text);
  }

  // Returns the decompressed contents of a file of these bytes, or the error.
  absl::StatusOr<std::string> Decompress(const std::string& bytes, size_t step = 1000) const {
    const InputFile file = {directory_.Write("a.jsonl.z", bytes), InputKind::kJsonLines,
                            static_cast<int64_t>(bytes.size()), GetParam()};
    auto source = Decompressor::Open(file);
    if (!source.ok()) return source.status();
    std::string text;
    for (;;) {
      std::string part(step, '\0');
      const absl::StatusOr<size_t> got = (*source)->Read(part.data(), part.size());
      if (!got.ok()) return got.status();
      text += part.substr(0, *got);
      if (*got > 0) continue;
      EXPECT_EQ((*source)->position(), file.bytes);
      return text;
    }
  }

  void ExpectDamage(const std::string& bytes, const std::string& cause) const {
    const absl::StatusOr<std::string> text = Decompress(bytes);
    EXPECT_TRUE(absl::IsDataLoss(text.status())) << text.status();
    EXPECT_THAT(std::string(text.status().message()), HasSubstr("a.jsonl.z: "));
    EXPECT_THAT(std::string(text.status().message()), HasSubstr(cause));
    EXPECT_THAT(std::string(text.status().message()), HasSubstr("at byte "));
  }

  const TextDirectory directory_;
};

TEST_P(DecompressorTest, ReadsAllMembers) {
  const std::string text = Prose(700000, 1);
  const std::string three = Compress(text) + Compress("") + Compress("end");
  for (const size_t step : {size_t{1}, size_t{4096}, size_t{10} << 20}) {
    const absl::StatusOr<std::string> read = Decompress(three, step);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(*read == text + "end");
  }
  EXPECT_EQ(*Decompress(Compress("")), "");
}

TEST_P(DecompressorTest, AFileCutAnywhereIsAnError) {
  const std::string whole = Compress(Prose(300, 2));
  for (size_t size = 0; size < whole.size(); ++size) {
    ExpectDamage(whole.substr(0, size), "cut");
    if (size > 0) ExpectDamage(whole + whole.substr(0, size), "cut");
  }
}

TEST_P(DecompressorTest, AChangedByteIsAnError) {
  const std::string whole = Compress(Prose(300000, 3));
  for (const size_t at : {whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_TRUE(absl::IsDataLoss(Decompress(damaged).status())) << at;
  }
}

TEST_P(DecompressorTest, AWrongChecksumIsAnError) {
  std::string damaged = Compress("some text");
  // The checksum is at the end of a frame, and before the length of four bytes in a gzip member.
  const size_t at = damaged.size() - (GetParam() == Compression::kGzip ? 8 : 4);
  damaged[at] = static_cast<char>(damaged[at] ^ 1);
  ExpectDamage(damaged, GetParam() == Compression::kGzip ? "incorrect data check" : "checksum");
}

TEST_P(DecompressorTest, BytesAfterTheEndAreAnError) {
  const std::string whole = Compress(Prose(3000, 4));
  ExpectDamage(whole + "garbage", "bytes after the end of the ");
  ExpectDamage(whole + std::string(512, '\0'), "bytes after the end of the ");
}

TEST_P(DecompressorTest, OtherContentsAreAnError) {
  ExpectDamage("{\"text\": \"plain\"}\n", "damaged");
}

INSTANTIATE_TEST_SUITE_P(Both, DecompressorTest,
                         testing::Values(Compression::kGzip, Compression::kZstd));

using ZstdTest = DecompressorTest;

TEST_P(ZstdTest, SkipsSkippableFrames) {
  const std::string bytes = SkippableFrame("index") + Zstd("one ") + SkippableFrame("") +
                            Zstd("two") + SkippableFrame(std::string(300000, 'x'));
  EXPECT_EQ(*Decompress(bytes), "one two");
  ExpectDamage(bytes.substr(0, bytes.size() - 1), "cut");
}

TEST_P(ZstdTest, NamesAFrameThatNeedsTooMuchMemory) {
  // A frame header with a window descriptor of 2 GiB, and no content.
  ExpectDamage(std::string("\x28\xB5\x2F\xFD\x00\xA8\x01\x00\x00", 9), "--long=27");
}

INSTANTIATE_TEST_SUITE_P(Zstd, ZstdTest, testing::Values(Compression::kZstd));

TEST(DecompressorOpenTest, NamesAMissingFile) {
  const InputFile file = {"/none/a.jsonl.gz", InputKind::kJsonLines, 1, Compression::kGzip};
  const absl::Status status = Decompressor::Open(file).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot open /none/a.jsonl.gz: No such"));
}

}  // namespace
}  // namespace trainyard::data
