#include "data/split/window_classes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "data/unicode/code_point.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace trainyard::data {
namespace {

#if defined(__SSE2__)

constexpr size_t kVectorBytes = sizeof(__m128i);

// Selects the bytes from `first` to `last`, which are ASCII. The addition maps `last` to 127, the
// largest signed value, and larger bytes to smaller values, so one signed comparison is enough.
__m128i InRange(__m128i bytes, char first, char last) {
  const __m128i shifted = _mm_add_epi8(bytes, _mm_set1_epi8(static_cast<char>(127 - last)));
  return _mm_cmpgt_epi8(shifted, _mm_set1_epi8(static_cast<char>(126 - (last - first))));
}

uint64_t BitsOf(__m128i mask, size_t offset) {
  return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(mask))) << offset;
}

// Sets the masks of ASCII characters except `other`, and returns the mask of the other bytes.
uint64_t ClassifyAscii(const char* window, WindowClasses* classes) {
  uint64_t non_ascii = 0;
  for (size_t i = 0; i < kWindowBytes; i += kVectorBytes) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(window + i));
    const auto equal = [bytes](char byte) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)); };
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const __m128i space = equal(' ');
    classes->letter |= BitsOf(InRange(lower, 'a', 'z'), i);
    classes->number |= BitsOf(InRange(bytes, '0', '9'), i);
    classes->space |= BitsOf(_mm_or_si128(space, InRange(bytes, '\t', '\r')), i);
    classes->ascii_space |= BitsOf(space, i);
    classes->line_end |= BitsOf(_mm_or_si128(equal('\n'), equal('\r')), i);
    classes->apostrophe |= BitsOf(equal('\''), i);
    non_ascii |= BitsOf(bytes, i);
  }
  return non_ascii;
}

struct AsciiMasks {
  uint64_t non_ascii = 0;
  uint64_t control = 0;  // below U+0020, and U+007F
};

AsciiMasks FindControls(const char* window) {
  AsciiMasks masks;
  for (size_t i = 0; i < kWindowBytes; i += kVectorBytes) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(window + i));
    const __m128i last = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F));
    masks.control |= BitsOf(_mm_or_si128(InRange(bytes, 0, 0x1F), last), i);
    masks.non_ascii |= BitsOf(bytes, i);
  }
  return masks;
}

#else

uint64_t ClassifyAscii(const char* window, WindowClasses* classes) {
  uint64_t non_ascii = 0;
  for (size_t i = 0; i < kWindowBytes; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    const char byte = window[i];
    if (static_cast<uint8_t>(byte) >= 0x80) {
      non_ascii |= bit;
      continue;
    }
    const CharClass char_class = ClassOf(static_cast<uint8_t>(byte));
    if (char_class == CharClass::kLetter) classes->letter |= bit;
    if (char_class == CharClass::kNumber) classes->number |= bit;
    if (char_class == CharClass::kSpace) classes->space |= bit;
    if (byte == ' ') classes->ascii_space |= bit;
    if (byte == '\n' || byte == '\r') classes->line_end |= bit;
    if (byte == '\'') classes->apostrophe |= bit;
  }
  return non_ascii;
}

struct AsciiMasks {
  uint64_t non_ascii = 0;
  uint64_t control = 0;  // below U+0020, and U+007F
};

AsciiMasks FindControls(const char* window) {
  AsciiMasks masks;
  for (size_t i = 0; i < kWindowBytes; ++i) {
    const auto byte = static_cast<uint8_t>(window[i]);
    if (byte < 0x20 || byte == 0x7F) masks.control |= uint64_t{1} << i;
    if (byte >= 0x80) masks.non_ascii |= uint64_t{1} << i;
  }
  return masks;
}

#endif

// Returns the window at `begin`. Copies its bytes to `padded` if the text ends in it.
const char* WindowAt(std::string_view text, size_t begin, char* padded) {
  const size_t size = text.size() - begin;
  if (size >= kWindowBytes) return text.data() + begin;
  std::memset(padded, 0, kWindowBytes);
  std::memcpy(padded, text.data() + begin, size);
  return padded;
}

// Adds the characters whose bytes are in `non_ascii`. Reduces `size` to stop before a character.
void ClassifyNonAscii(const char* window, uint64_t non_ascii, bool ascii_numbers,
                      WindowClasses* classes) {
  uint64_t masks[4] = {};  // by CharClass
  for (uint64_t rest = non_ascii; rest != 0;) {
    const size_t at = std::countr_zero(rest);
    const DecodedChar decoded = DecodeUtf8(window + at);
    const CharClass char_class = ClassOf(decoded.code_point);
    if (at + decoded.length > classes->size ||
        (ascii_numbers && char_class == CharClass::kNumber)) {
      classes->size = at;
      break;
    }
    const uint64_t bytes = LowBits(decoded.length) << at;
    masks[static_cast<size_t>(char_class)] |= bytes;
    classes->continuation |= bytes & (bytes - 1);
    rest &= ~bytes;
  }
  classes->letter |= masks[static_cast<size_t>(CharClass::kLetter)];
  classes->number |= masks[static_cast<size_t>(CharClass::kNumber)];
  classes->space |= masks[static_cast<size_t>(CharClass::kSpace)];
}

}  // namespace

WindowClasses ClassifyWindow(std::string_view text, size_t begin, bool ascii_numbers) {
  WindowClasses classes;
  classes.size = std::min(kWindowBytes, text.size() - begin);
  char padded[kWindowBytes];
  const uint64_t non_ascii = ClassifyAscii(WindowAt(text, begin, padded), &classes);
  // Decodes from `text`, because the last character may end after the window.
  if (non_ascii != 0) {
    ClassifyNonAscii(text.data() + begin, non_ascii, ascii_numbers, &classes);
  }
  const uint64_t known = LowBits(classes.size);
  classes.letter &= known;
  classes.number &= known;
  classes.space &= known;
  classes.ascii_space &= known;
  classes.line_end &= known;
  classes.apostrophe &= known;
  classes.other = known & ~(classes.letter | classes.number | classes.space);
  return classes;
}

OtherClasses ClassifyOthers(std::string_view text, size_t begin, const WindowClasses& classes) {
  char padded[kWindowBytes];
  const AsciiMasks ascii = FindControls(WindowAt(text, begin, padded));
  const uint64_t non_ascii = ascii.non_ascii & LowBits(classes.size);
  uint64_t masks[3] = {};  // by OtherClass
  OtherClasses others;
  for (uint64_t rest = non_ascii & ~classes.continuation; rest != 0; rest &= rest - 1) {
    const size_t at = std::countr_zero(rest);
    const DecodedChar decoded = DecodeUtf8(text.data() + begin + at);
    const uint64_t bytes = LowBits(decoded.length) << at;
    if (IsKanaOrHan(decoded.code_point)) others.kana_or_han |= bytes;
    if ((classes.other & bytes) == 0) continue;
    masks[static_cast<size_t>(OtherClassOf(decoded.code_point))] |= bytes;
  }
  others.mark = masks[static_cast<size_t>(OtherClass::kMark)];
  others.control =
      masks[static_cast<size_t>(OtherClass::kControl)] | (ascii.control & classes.other);
  others.symbol = classes.other & ~(others.mark | others.control);
  others.ascii_letter = classes.letter & ~non_ascii;
  others.ascii_symbol = others.symbol & ~non_ascii;
  return others;
}

}  // namespace trainyard::data
