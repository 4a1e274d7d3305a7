#include "cli/output/tensorboard_file.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainyard/v1/tensorboard_event.pb.h"

namespace trainyard::cli {
namespace {

// The check value of CRC-32C in the catalog of CRC algorithms, and a vector of RFC 3720, B.4.
TEST(TensorboardFileTest, ChecksumIsTheOneOfCastagnoli) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(TensorboardFileTest, RecordIsFramedByLengthAndMaskedChecksums) {
  const std::string record = TfRecord("123456789");
  ASSERT_EQ(record.size(), 8 + 4 + 9 + 4u);
  EXPECT_EQ(record.substr(0, 8), std::string("\x09\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 9), "123456789");
  // ((0xe3069283 >> 15) | (0xe3069283 << 17)) + 0xa282ead8 = 0xc78ab0e5, little-endian.
  EXPECT_EQ(record.substr(21), std::string("\xe5\xb0\x8a\xc7"));
}

TEST(TensorboardFileTest, SeriesHasAnEventForEachPoint) {
  v1::Series series;
  series.set_key("loss");
  for (const int64_t step : {1, 2}) {
    series.add_steps(step);
    series.add_times_ms(1'700'000'000'500 + step);
    series.add_last(4.5 / static_cast<double>(step));
  }
  const std::string records = TensorboardSeries(series);
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(records[0]));
  v1::TensorboardEvent first;
  ASSERT_TRUE(first.ParseFromString(records.substr(12, length)));
  EXPECT_EQ(first.step(), 1);
  EXPECT_DOUBLE_EQ(first.wall_time(), 1'700'000'000.501);
  EXPECT_EQ(first.summary().value(0).tag(), "loss");
  EXPECT_EQ(first.summary().value(0).simple_value(), 4.5f);
  EXPECT_EQ(records.size(), 2 * (length + 16));
}

}  // namespace
}  // namespace trainyard::cli
