#include "data/parquet/thrift_reader.h"

namespace trainyard::data {
namespace {

// Parquet's own structs have at most 6 levels.
constexpr int kDepthMax = 32;

}  // namespace

void ThriftReader::Fail() {
  ok_ = false;
  rest_ = {};
}

uint8_t ThriftReader::Byte() {
  if (rest_.empty()) {
    Fail();
    return 0;
  }
  const auto byte = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return byte;
}

uint64_t ThriftReader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = Byte();
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  Fail();
  return 0;
}

int64_t ThriftReader::ZigZag() {
  const uint64_t value = Varint();
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

std::string_view ThriftReader::Bytes(uint64_t count) {
  if (count > rest_.size()) {
    Fail();
    return {};
  }
  const std::string_view bytes = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return bytes;
}

ThriftField ThriftReader::NextField(const ThriftField& before) {
  const uint8_t header = Byte();
  const auto type = static_cast<ThriftType>(header & 0x0F);
  if (!ok_ || type == ThriftType::kStop) return {};
  if (type > ThriftType::kStruct) {
    Fail();
    return {};
  }
  const int delta = header >> 4;
  const int64_t id = delta != 0 ? int64_t{before.id} + delta : ZigZag();
  if (!ok_ || id < 0 || id > INT16_MAX) {
    Fail();
    return {};
  }
  return {static_cast<int32_t>(id), type};
}

int64_t ThriftReader::Integer(const ThriftField& field) {
  switch (field.type) {
    case ThriftType::kByte:
      return static_cast<int8_t>(Byte());
    case ThriftType::kInt16:
    case ThriftType::kInt32:
    case ThriftType::kInt64:
      return ZigZag();
    default:
      Fail();
      return 0;
  }
}

// The type of the field contains the value.
bool ThriftReader::Boolean(const ThriftField& field) {
  if (field.type != ThriftType::kTrue && field.type != ThriftType::kFalse) Fail();
  return field.type == ThriftType::kTrue;
}

std::string_view ThriftReader::Binary(const ThriftField& field) {
  if (field.type == ThriftType::kBinary) return Bytes(Varint());
  Fail();
  return {};
}

size_t ThriftReader::ListOf(const ThriftField& field, ThriftType element) {
  if (field.type != ThriftType::kList) {
    Fail();
    return 0;
  }
  const uint8_t header = Byte();
  const uint64_t count = header >> 4 == 15 ? Varint() : header >> 4;
  // An element has at least one byte.
  if (static_cast<ThriftType>(header & 0x0F) != element || count > rest_.size()) Fail();
  return ok_ ? count : 0;
}

bool ThriftReader::IsStruct(const ThriftField& field) {
  if (field.type != ThriftType::kStruct) Fail();
  return ok_;
}

void ThriftReader::SkipElements(ThriftType type, uint64_t count, int depth) {
  const bool is_boolean = type == ThriftType::kTrue || type == ThriftType::kFalse;
  if (type == ThriftType::kStop || count > rest_.size()) Fail();
  for (uint64_t i = 0; ok_ && i < count; ++i) {
    // In lists, a boolean has a byte of its own.
    SkipValue(is_boolean ? ThriftType::kByte : type, depth);
  }
}

void ThriftReader::SkipMap(int depth) {
  const uint64_t count = Varint();
  if (count == 0) return;
  const uint8_t types = Byte();
  if (count > rest_.size()) Fail();
  for (uint64_t i = 0; ok_ && i < count; ++i) {
    SkipElements(static_cast<ThriftType>(types >> 4), 1, depth);
    SkipElements(static_cast<ThriftType>(types & 0x0F), 1, depth);
  }
}

void ThriftReader::SkipValue(ThriftType type, int depth) {
  if (depth > kDepthMax) Fail();
  if (!ok_) return;
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      return;
    case ThriftType::kByte:
      Byte();
      return;
    case ThriftType::kInt16:
    case ThriftType::kInt32:
    case ThriftType::kInt64:
      Varint();
      return;
    case ThriftType::kDouble:
      Bytes(8);
      return;
    case ThriftType::kBinary:
      Bytes(Varint());
      return;
    case ThriftType::kList:
    case ThriftType::kSet: {
      const uint8_t header = Byte();
      const uint64_t count = header >> 4 == 15 ? Varint() : header >> 4;
      SkipElements(static_cast<ThriftType>(header & 0x0F), count, depth + 1);
      return;
    }
    case ThriftType::kMap:
      SkipMap(depth + 1);
      return;
    case ThriftType::kStruct:
      for (ThriftField field = NextField({}); field.type != ThriftType::kStop;
           field = NextField(field)) {
        SkipValue(field.type, depth + 1);
      }
      return;
    default:
      Fail();
  }
}

}  // namespace trainyard::data
