// White space as Python's str.isspace, str.strip and str.split define it: the property White_Space
// and the control characters U+001C to U+001F. Texts must be valid UTF-8.
#ifndef TRAINYARD_DATA_FILTER_WHITE_SPACE_H_
#define TRAINYARD_DATA_FILTER_WHITE_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/unicode/code_point.h"

namespace trainyard::data {

inline bool IsPythonSpace(char32_t code_point) {
  return ClassOf(code_point) == CharClass::kSpace || (code_point >= 0x1C && code_point <= 0x1F);
}

inline bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

inline size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (const char byte : text) count += IsContinuation(byte) ? 0 : 1;
  return count;
}

inline std::string_view StripLeft(std::string_view text) {
  while (!text.empty()) {
    const DecodedChar first = DecodeUtf8(text.data());
    if (!IsPythonSpace(first.code_point)) break;
    text.remove_prefix(first.length);
  }
  return text;
}

inline std::string_view StripRight(std::string_view text) {
  while (!text.empty()) {
    size_t last = text.size() - 1;
    while (IsContinuation(text[last])) --last;
    if (!IsPythonSpace(DecodeUtf8(text.data() + last).code_point)) break;
    text = text.substr(0, last);
  }
  return text;
}

inline std::string_view Strip(std::string_view text) { return StripRight(StripLeft(text)); }

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_WHITE_SPACE_H_
