#include "proto/parsers/tf_record.h"

#include <array>

namespace trainyard {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kCrcBytes = 4;
constexpr std::size_t kHeadBytes = kLengthBytes + kCrcBytes;
// A file of a crashed program may contain any length.
constexpr uint64_t kMaxSkippedBytes = uint64_t{1} << 40;

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

uint64_t NumberAt(std::string_view bytes, std::size_t begin, std::size_t size) {
  uint64_t number = 0;
  for (std::size_t i = size; i > 0; --i) {
    number = number << 8 | static_cast<unsigned char>(bytes[begin + i - 1]);
  }
  return number;
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

TfRecordResult ReadTfRecord(std::string_view bytes) {
  using Kind = TfRecordResult::Kind;
  if (bytes.size() < kHeadBytes) return {};
  const uint64_t length = NumberAt(bytes, 0, kLengthBytes);
  const bool is_head_intact =
      NumberAt(bytes, kLengthBytes, kCrcBytes) == MaskedCrc(bytes.substr(0, kLengthBytes));
  if (!is_head_intact || length > kMaxSkippedBytes) return {.kind = Kind::kDamaged};
  const uint64_t size = kHeadBytes + length + kCrcBytes;
  if (length > kMaxTfRecordBytes) return {.kind = Kind::kSkipped, .size = size};
  if (bytes.size() < size) return {};
  const std::string_view content = bytes.substr(kHeadBytes, length);
  if (NumberAt(bytes, kHeadBytes + length, kCrcBytes) != MaskedCrc(content)) {
    return {.kind = Kind::kDamaged};
  }
  return {.kind = Kind::kRecord, .content = content, .size = size};
}

}  // namespace trainyard
