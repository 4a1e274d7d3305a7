#include "data/tokenizer/proto_fields.h"

#include <cstring>

namespace trainyard::data {
namespace {

// Types of the encoding of protobuf.
constexpr uint64_t kVarint = 0;
constexpr uint64_t kFixed64 = 1;
constexpr uint64_t kBytes = 2;
constexpr uint64_t kFixed32 = 5;

}  // namespace

bool ProtoFields::Next(ProtoField* field) {
  if (damaged_ || rest_.empty()) return false;
  *field = {};
  damaged_ = !ReadField(field);
  return !damaged_;
}

bool ProtoFields::ReadField(ProtoField* field) {
  uint64_t key = 0;
  if (!ReadVarint(&key) || (key >> 3) > UINT32_MAX) return false;
  field->number = static_cast<uint32_t>(key >> 3);
  uint64_t size = 0;
  std::string_view skipped;
  switch (key & 7) {
    case kVarint:
      return ReadVarint(&field->varint);
    case kFixed64:
      return ReadBytes(sizeof(uint64_t), &skipped);
    case kBytes:
      return ReadVarint(&size) && ReadBytes(size, &field->bytes);
    case kFixed32:
      if (!ReadBytes(sizeof(float), &skipped)) return false;
      std::memcpy(&field->fixed32, skipped.data(), sizeof(float));
      return true;
    default:
      return false;
  }
}

bool ProtoFields::ReadVarint(uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    *value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool ProtoFields::ReadBytes(uint64_t size, std::string_view* bytes) {
  if (size > rest_.size()) return false;
  *bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

}  // namespace trainyard::data
