// Classes of code points, and conversion between code points and UTF-8.
#ifndef TRAINYARD_DATA_UNICODE_CODE_POINT_H_
#define TRAINYARD_DATA_UNICODE_CODE_POINT_H_

#include <cstdint>
#include <string>

#include "data/unicode/char_class_tables.h"
#include "data/unicode/other_class_tables.h"

namespace trainyard::data {

// The classes that the split rules of tokenizers distinguish: general categories L and N, and the
// property White_Space (25 code points) of Unicode 16.0.
enum class CharClass : uint8_t { kLetter, kNumber, kSpace, kOther };

inline CharClass ClassOf(char32_t code_point) {
  if (code_point >= kCharClassLimit) return CharClass::kOther;
  return static_cast<CharClass>(TwoLevelValue(kCharClassBlocks, kCharClassWords, code_point));
}

// Parts of CharClass::kOther that DeepSeek-V3's rule distinguishes: general categories M, and P and
// S. The rest are controls, format characters and unassigned code points (C).
enum class OtherClass : uint8_t { kControl, kMark, kSymbol };

// `code_point` must be of CharClass::kOther.
inline OtherClass OtherClassOf(char32_t code_point) {
  if (code_point >= kOtherClassLimit) return OtherClass::kControl;
  return static_cast<OtherClass>(TwoLevelValue(kOtherClassBlocks, kOtherClassWords, code_point));
}

// True for the blocks of Hiragana and Katakana, and for the Han ideographs of Unicode 1.1.
inline bool IsKanaOrHan(char32_t code_point) {
  return (code_point >= 0x3040 && code_point <= 0x30FF) ||
         (code_point >= 0x4E00 && code_point <= 0x9FA5);
}

struct DecodedChar {
  char32_t code_point;
  uint32_t length;  // in bytes
};

// Decodes the character at `text`, which must be valid UTF-8.
inline DecodedChar DecodeUtf8(const char* text) {
  const auto byte = [text](int i) { return static_cast<char32_t>(static_cast<uint8_t>(text[i])); };
  const auto tail = [&byte](int i) { return byte(i) & 0x3F; };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | tail(1), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | tail(1) << 6 | tail(2), 3};
  return {(lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4};
}

// Appends the UTF-8 of `code_point`, which must be at most U+10FFFF and no surrogate.
void AppendUtf8(char32_t code_point, std::string* text);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_UNICODE_CODE_POINT_H_
