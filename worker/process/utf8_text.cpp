#include "worker/process/utf8_text.h"

#include <cstdint>

namespace trainyard::worker {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

// By the first byte alone; 0 for one that cannot begin a character.
std::size_t ClaimedBytes(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

// Overlong forms, surrogates and values beyond U+10FFFF show in the second byte (Unicode 15.0,
// table 3-7).
bool IsLegalSecond(uint8_t first, uint8_t second) {
  if (first == 0xE0) return second >= 0xA0;
  if (first == 0xED) return second <= 0x9F;
  if (first == 0xF0) return second >= 0x90;
  if (first == 0xF4) return second <= 0x8F;
  return true;
}

}  // namespace

std::size_t Utf8CharacterBytes(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<uint8_t>(text[0]);
  const std::size_t bytes = ClaimedBytes(first);
  if (bytes <= 1) return bytes;
  if (text.size() < bytes || !IsLegalSecond(first, static_cast<uint8_t>(text[1]))) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  return bytes;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = Utf8CharacterBytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string ToUtf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = Utf8CharacterBytes(text);
    if (bytes == 0) {
      result += kReplacement;
      text.remove_prefix(1);
    } else {
      result.append(text.substr(0, bytes));
      text.remove_prefix(bytes);
    }
  }
  return result;
}

std::string_view Utf8Prefix(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && IsContinuation(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace trainyard::worker
