#include "data/dedup/spill_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::data {
namespace {

using ::testing::HasSubstr;

std::string RecordOf(uint64_t number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number)) + "12345678";
}

// Enough for three blocks, of which the last one is partly filled.
constexpr uint64_t kRecords = 10000;

class SpillFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (uint64_t i = 0; i < kRecords; ++i) {
      ASSERT_TRUE(file_.Append(RecordOf(i)).ok());
      contents_ += RecordOf(i);
    }
    ASSERT_TRUE(file_.Finish().ok());
  }

  absl::Status Read(std::string* contents) const {
    return file_.Read([contents](std::string_view records) {
      EXPECT_EQ(records.size() % 16, 0u);
      *contents += records;
    });
  }

  // Expects an error, and only undamaged records before it.
  void ExpectDamage(const std::string& cause) const {
    std::string contents;
    const absl::Status status = Read(&contents);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(status.message(), HasSubstr(cause));
    EXPECT_THAT(status.message(), HasSubstr(path_));
    EXPECT_EQ(contents, contents_.substr(0, contents.size()));
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.File("spill");
  SpillFile file_{path_, 16};
  std::string contents_;
};

TEST_F(SpillFileTest, ReturnsTheRecordsInOrder) {
  std::string contents;
  ASSERT_TRUE(Read(&contents).ok());
  EXPECT_EQ(contents, contents_);
  EXPECT_EQ(file_.records(), kRecords);
}

TEST_F(SpillFileTest, RefusesACutFile) {
  std::filesystem::resize_file(path_, 16 * kRecords - 16);
  ExpectDamage("it has 159984 bytes instead of 160000");
  std::filesystem::resize_file(path_, 0);
  ExpectDamage("it has 0 bytes");
}

TEST_F(SpillFileTest, RefusesAChangedByte) {
  for (const size_t position : {size_t{0}, size_t{70000}, contents_.size() - 1}) {
    std::string changed = contents_;
    changed[position] ^= 1;
    WriteFile(path_, changed);
    ExpectDamage("a checksum is wrong");
  }
}

TEST_F(SpillFileTest, RefusesExchangedBlocks) {
  const size_t block = 64 << 10;
  WriteFile(path_, contents_.substr(block, block) + contents_.substr(0, block) +
                       contents_.substr(2 * block));
  ExpectDamage("a checksum is wrong");
}

TEST_F(SpillFileTest, RefusesAnExistingFile) {
  SpillFile file(path_, 16);
  absl::Status status;
  while (status.ok() && file.records() < kRecords) status = file.Append(RecordOf(1));
  EXPECT_THAT(status.message(), HasSubstr("cannot create"));
}

TEST_F(SpillFileTest, RemoveDeletesTheFile) {
  file_.Remove();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST(SpillFile, KeepsFewRecordsInMemory) {
  const TemporaryDirectory directory;
  SpillFile file(directory.File("spill"), 16);
  std::string contents;
  const auto take = [&contents](std::string_view records) { contents += records; };
  ASSERT_TRUE(file.Finish().ok());
  ASSERT_TRUE(file.Read(take).ok());
  EXPECT_EQ(contents, "");
  ASSERT_TRUE(file.Append(RecordOf(1)).ok());
  ASSERT_TRUE(file.Append(RecordOf(2)).ok());
  ASSERT_TRUE(file.Finish().ok());
  ASSERT_TRUE(file.Read(take).ok());
  EXPECT_EQ(contents, RecordOf(1) + RecordOf(2));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  file.Remove();
  EXPECT_EQ(file.records(), 0u);
}

TEST(PieceFile, ReturnsPiecesAtTheirPositions) {
  const TemporaryDirectory directory;
  const std::unique_ptr<PieceFile> file = *PieceFile::Create(directory.File("pieces"));
  std::vector<uint64_t> positions;
  for (int i = 0; i < 100; ++i) {
    positions.push_back(file->bytes());
    ASSERT_TRUE(file->Append(std::string(static_cast<size_t>(i) * 1000, 'a')).ok());
  }
  ASSERT_TRUE(file->Finish().ok());
  std::string piece;
  for (const size_t i : {99, 0, 50}) {
    ASSERT_TRUE(file->ReadAt(positions[i], i * 1000, &piece).ok());
    EXPECT_EQ(piece, std::string(i * 1000, 'a'));
  }
}

TEST(PieceFile, RefusesDamagedPieces) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("pieces");
  const std::unique_ptr<PieceFile> file = *PieceFile::Create(path);
  ASSERT_TRUE(file->Append("first").ok());
  const uint64_t second = file->bytes();
  ASSERT_TRUE(file->Append("second").ok());
  ASSERT_TRUE(file->Finish().ok());
  std::string piece;
  std::filesystem::resize_file(path, file->bytes() - 1);
  EXPECT_THAT(file->ReadAt(second, 6, &piece).message(), HasSubstr("its end is missing"));
  EXPECT_TRUE(file->ReadAt(0, 5, &piece).ok());
  std::string contents = ReadFile(path);
  contents[2] ^= 4;
  WriteFile(path, contents);
  EXPECT_THAT(file->ReadAt(0, 5, &piece).message(), HasSubstr("a checksum is wrong"));
}

}  // namespace
}  // namespace trainyard::data
