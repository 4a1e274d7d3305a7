#include "proto/text/utf8.h"

#include <utf8.h>

#include <cstdint>
#include <iterator>

namespace trainyard {
namespace {

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace

std::optional<std::size_t> FirstInvalidUtf8(std::string_view text) {
  const auto invalid = utf8::find_invalid(text.begin(), text.end());
  if (invalid == text.end()) return std::nullopt;
  return static_cast<std::size_t>(invalid - text.begin());
}

bool IsUtf8(std::string_view text) { return utf8::is_valid(text.begin(), text.end()); }

std::string ReplaceInvalidUtf8(std::string_view text) {
  if (IsUtf8(text)) return std::string(text);
  std::string clean;
  clean.reserve(text.size());
  utf8::replace_invalid(text.begin(), text.end(), std::back_inserter(clean));
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
