#include "proto/parsers/tf_record.h"

#include <string>

#include "gtest/gtest.h"

namespace trainyard {
namespace {

using Kind = TfRecordResult::Kind;

// The check value of CRC-32C in the catalog of CRC algorithms, and a vector of RFC 3720, B.4.
TEST(TfRecordTest, ChecksumIsTheOneOfCastagnoli) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(TfRecordTest, RecordIsFramedByLengthAndMaskedChecksums) {
  const std::string record = TfRecord("123456789");
  ASSERT_EQ(record.size(), 8 + 4 + 9 + 4u);
  EXPECT_EQ(record.substr(0, 8), std::string("\x09\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 9), "123456789");
  // ((0xe3069283 >> 15) | (0xe3069283 << 17)) + 0xa282ead8 = 0xc78ab0e5, little-endian.
  EXPECT_EQ(record.substr(21), std::string("\xe5\xb0\x8a\xc7"));
}

TEST(TfRecordTest, ReadsWhatWasWritten) {
  const std::string file = TfRecord("first") + TfRecord("");
  const TfRecordResult first = ReadTfRecord(file);
  EXPECT_EQ(first.kind, Kind::kRecord);
  EXPECT_EQ(first.content, "first");
  const TfRecordResult second = ReadTfRecord(std::string_view(file).substr(first.size));
  EXPECT_EQ(second.kind, Kind::kRecord);
  EXPECT_EQ(second.content, "");
  EXPECT_EQ(first.size + second.size, file.size());
}

TEST(TfRecordTest, WaitsForTheRestOfARecord) {
  const std::string record = TfRecord("content");
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_EQ(ReadTfRecord(record.substr(0, size)).kind, Kind::kIncomplete) << size;
  }
}

TEST(TfRecordTest, FindsEveryModifiedByte) {
  const std::string record = TfRecord("content");
  for (std::size_t index = 0; index < record.size(); ++index) {
    std::string modified = record;
    modified[index] ^= 1;
    EXPECT_EQ(ReadTfRecord(modified).kind, Kind::kDamaged) << index;
  }
  EXPECT_EQ(ReadTfRecord(std::string(100, '\xff')).kind, Kind::kDamaged);
}

TEST(TfRecordTest, SkipsLongRecordsAfterTheirBeginning) {
  const std::string record = TfRecord(std::string(kMaxTfRecordBytes + 1, 'x'));
  const TfRecordResult skipped = ReadTfRecord(record.substr(0, 12));
  EXPECT_EQ(skipped.kind, Kind::kSkipped);
  EXPECT_EQ(skipped.size, record.size());
}

}  // namespace
}  // namespace trainyard
