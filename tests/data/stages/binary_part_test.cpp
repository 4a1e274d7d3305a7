#include "data/stages/binary_part.h"

#include <gtest/gtest.h>

#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

class BinaryPartTest : public testing::Test {
 protected:
  // Writes 200,000 numbers, then gives the file its final name.
  void Write() {
    auto writer = BinaryPartWriter::Create(names_, lease_, "numbers");
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (uint32_t number = 0; number < kNumbers; ++number) {
      ASSERT_EQ((*writer)->AppendNumber(number), absl::OkStatus());
    }
    auto part = (*writer)->Finish();
    ASSERT_TRUE(part.ok()) << part.status();
    part_ = *part;
    std::filesystem::rename(files_ / PartNames::UnfinishedName(lease_, part_.name),
                            files_ / part_.name);
  }

  static constexpr uint32_t kNumbers = 200'000;
  TextDirectory files_;
  const PartNames names_{files_.path(), 10};
  const BlockLease lease_{3, 77};
  PartFile part_;
};

TEST_F(BinaryPartTest, ReadsWhatWasWritten) {
  Write();
  EXPECT_EQ(part_.name, "numbers-00003.bin");
  EXPECT_EQ(part_.bytes, 4 * kNumbers);
  const auto reader = BinaryPartReader::Open(files_.path(), part_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (uint32_t expected = 0; expected < kNumbers; ++expected) {
    ASSERT_FALSE((*reader)->AtEnd());
    uint32_t number = 0;
    ASSERT_EQ((*reader)->ReadNumber(&number), absl::OkStatus());
    ASSERT_EQ(number, expected);
  }
  EXPECT_TRUE((*reader)->AtEnd());
  std::string rest;
  EXPECT_EQ((*reader)->Read(1, &rest).code(), absl::StatusCode::kDataLoss);
}

// The reader fills its buffer with 256 KiB, which no multiple of 7 or 300,000 bytes divide.
TEST_F(BinaryPartTest, ReadsBeyondTheBuffer) {
  Write();
  for (const size_t size : {size_t{7}, size_t{300'000}}) {
    const auto reader = BinaryPartReader::Open(files_.path(), part_);
    ASSERT_TRUE(reader.ok()) << reader.status();
    std::string all;
    std::string bytes;
    while (all.size() + size <= 4 * kNumbers) {
      ASSERT_EQ((*reader)->Read(size, &bytes), absl::OkStatus());
      ASSERT_EQ(bytes.size(), size);
      all += bytes;
    }
    EXPECT_TRUE(all == ReadFile(files_ / part_.name).substr(0, all.size())) << size;
  }
}

TEST_F(BinaryPartTest, RefusesADamagedFile) {
  Write();
  std::string bytes = ReadFile(files_ / part_.name);
  bytes[500'000] ^= 1;
  files_.Write(part_.name, bytes);
  EXPECT_EQ(BinaryPartReader::Open(files_.path(), part_).status().code(),
            absl::StatusCode::kDataLoss);
  files_.Write(part_.name, bytes.substr(0, 1000));
  EXPECT_EQ(BinaryPartReader::Open(files_.path(), part_).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(BinaryPartTest, RemovesAnUnfinishedFile) {
  {
    const auto writer = BinaryPartWriter::Create(names_, lease_, "numbers");
    ASSERT_TRUE(writer.ok()) << writer.status();
    EXPECT_EQ(files_.Names().size(), 1u);
  }
  EXPECT_TRUE(files_.Names().empty());
}

}  // namespace
}  // namespace trainyard::data
