#include "data/documents/utf8_repair.h"

#include <simdjson.h>

#include <algorithm>
#include <cstddef>

namespace trainyard::data {
namespace {

struct Sequence {
  size_t bytes = 1;  // its length, or the length of its maximal subpart
  bool valid = false;
};

bool IsIn(unsigned char byte, int low, int high) { return byte >= low && byte <= high; }

// Returns the sequence at the start of `text`, which must not be empty. Follows table 3-7 of the
// Unicode standard: the first byte determines the length and the range of the second byte.
Sequence FirstSequence(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {1, true};
  if (!IsIn(first, 0xC2, 0xF4)) return {1, false};
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const int low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const int high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (text.size() < 2 || !IsIn(byte(1), low, high)) return {1, false};
  size_t bytes = 2;
  const size_t available = std::min(length, text.size());
  while (bytes < available && IsIn(byte(bytes), 0x80, 0xBF)) ++bytes;
  return {bytes, bytes == length};
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

std::string RepairUtf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size() + 64);
  while (!text.empty()) {
    const Sequence sequence = FirstSequence(text);
    repaired += sequence.valid ? text.substr(0, sequence.bytes) : "\xEF\xBF\xBD";
    text.remove_prefix(sequence.bytes);
  }
  return repaired;
}

}  // namespace trainyard::data
