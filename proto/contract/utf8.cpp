#include "proto/contract/utf8.h"

#include <cstdint>

namespace trainyard {
namespace {

// Length of the valid sequence at the front of `text`, or 0.
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return 1;
  std::size_t length = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  // Table 3-7 of the Unicode standard: the second byte's range keeps out overlong forms,
  // surrogates and values above U+10FFFF.
  if (byte(0) >= 0xC2 && byte(0) <= 0xDF) {
    length = 2;
  } else if (byte(0) >= 0xE0 && byte(0) <= 0xEF) {
    length = 3;
    if (byte(0) == 0xE0) low = 0xA0;
    if (byte(0) == 0xED) high = 0x9F;
  } else if (byte(0) >= 0xF0 && byte(0) <= 0xF4) {
    length = 4;
    if (byte(0) == 0xF0) low = 0x90;
    if (byte(0) == 0xF4) high = 0x8F;
  }
  if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace

std::optional<std::size_t> FirstInvalidUtf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = SequenceLength(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

bool IsUtf8(std::string_view text) { return !FirstInvalidUtf8(text).has_value(); }

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = SequenceLength(text.substr(i));
    if (length == 0) {
      clean += "\xEF\xBF\xBD";
      ++i;
    } else {
      clean.append(text.substr(i, length));
      i += length;
    }
  }
  return clean;
}

std::string_view Utf8Prefix(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && IsContinuation(text[end])) --end;
  return text.substr(0, end);
}

std::string_view LastLines(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const std::size_t cut = text.size() - max_bytes;
  const std::size_t newline = text.find('\n', cut - 1);
  if (newline != std::string_view::npos && newline + 1 < text.size()) {
    return text.substr(newline + 1);
  }
  std::size_t begin = cut;
  while (begin < text.size() && IsContinuation(text[begin])) ++begin;
  return text.substr(begin);
}

}  // namespace trainyard
