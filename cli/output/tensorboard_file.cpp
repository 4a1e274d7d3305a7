#include "cli/output/tensorboard_file.h"

#include <algorithm>
#include <array>

#include "trainyard/v1/tensorboard_event.pb.h"

namespace trainyard::cli {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, with reversed bits.

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kCrcTable = MakeCrcTable();

// TFRecords contain masked checksums, because the checksum of data that contains checksums is weak.
uint32_t MaskedCrc(std::string_view bytes) {
  constexpr uint32_t kMask = 0xa282ead8;
  const uint32_t crc = Crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + kMask;
}

std::string LittleEndian(uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>((number >> (8 * i)) & 0xff));
  return text;
}

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~crc;
}

std::string TfRecord(std::string_view bytes) {
  const std::string length = LittleEndian(bytes.size(), 8);
  std::string record = length;
  record += LittleEndian(MaskedCrc(length), 4);
  record += bytes;
  record += LittleEndian(MaskedCrc(bytes), 4);
  return record;
}

std::string TensorboardFileStart(double unix_seconds) {
  v1::TensorboardEvent event;
  event.set_wall_time(unix_seconds);
  event.set_file_version("brain.Event:2");
  return TfRecord(event.SerializeAsString());
}

std::string TensorboardSeries(const v1::Series& series) {
  std::string records;
  const int size = std::min(series.steps_size(), series.last_size());
  for (int i = 0; i < size; ++i) {
    v1::TensorboardEvent event;
    event.set_step(series.steps(i));
    if (i < series.times_ms_size()) {
      event.set_wall_time(static_cast<double>(series.times_ms(i)) / 1e3);
    }
    v1::TensorboardValue& value = *event.mutable_summary()->add_value();
    value.set_tag(series.key());
    value.set_simple_value(static_cast<float>(series.last(i)));
    records += TfRecord(event.SerializeAsString());
  }
  return records;
}

}  // namespace trainyard::cli
