#include "data/unicode/nfc.h"

#include <algorithm>
#include <cstring>

#include "data/unicode/code_point.h"
#include "data/unicode/composition.h"

namespace trainyard::data {
namespace {

// The first byte of U+0300, the first code point whose class is not kStarter.
constexpr uint8_t kFirstMarkByte = 0xCC;

bool IsContinuation(char byte) { return (byte & 0xC0) == 0x80; }

// Offset of the first byte from `at` on that is at least kFirstMarkByte.
size_t SkipUnmarked(std::string_view text, size_t at) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  for (uint64_t bytes; at + sizeof(bytes) <= text.size(); at += sizeof(bytes)) {
    std::memcpy(&bytes, text.data() + at, sizeof(bytes));
    // Each shift moves a bit of each byte to its highest bit. A byte of at least 0xCC has bits 7
    // and 6, and bit 5, bit 4 or both of bits 3 and 2.
    const uint64_t is_large = bytes << 2 | bytes << 3 | (bytes << 4 & bytes << 5);
    if (bytes & bytes << 1 & is_large & kHighBits) break;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < kFirstMarkByte) ++at;
  return at;
}

size_t PreviousChar(std::string_view text, size_t at) {
  do --at;
  while (IsContinuation(text[at]));
  return at;
}

// Returns true only if NFC leaves the character at `at` unchanged. Its class is kMayCompose. After
// a composed character it counts as doubtful, because it can replace a mark inside: U+00C0 U+0323
// becomes U+1EA0 U+0300.
bool IsKept(std::string_view text, size_t at, char32_t code_point) {
  if (at == 0) return true;
  const char32_t previous = DecodeUtf8(text.data() + PreviousChar(text, at)).code_point;
  return CombiningClassOf(previous) == 0 && !Decomposes(previous) &&
         Compose(previous, code_point) == 0;
}

// True if canonical order requires `second` before `first`.
bool AreSwapped(char32_t first, char32_t second) {
  const uint8_t combining_class = CombiningClassOf(second);
  return combining_class != 0 && combining_class < CombiningClassOf(first);
}

// Offset of the first character from `at` on that NFC may change or reorder; text.size() if there
// is none. `at` must be the start of a segment.
size_t FirstDoubt(std::string_view text, size_t at) {
  char32_t last_mark = 0;  // the character before `at`, if it is no starter
  while (true) {
    const size_t next = SkipUnmarked(text, at);
    if (next == text.size()) return next;
    if (next != at) last_mark = 0;
    at = next;
    const auto [code_point, length] = DecodeUtf8(text.data() + at);
    const NfcClass nfc_class = NfcClassOf(code_point);
    if (nfc_class == NfcClass::kStarter) {
      last_mark = 0;
    } else {
      if (nfc_class == NfcClass::kChanges) return at;
      if (nfc_class == NfcClass::kMayCompose && !IsKept(text, at, code_point)) return at;
      if (last_mark != 0 && AreSwapped(last_mark, code_point)) return at;
      last_mark = code_point;
    }
    at += length;
  }
}

// A segment starts with a kStarter and has no other. The first segment of a text may have none. NFC
// changes each segment independently.
struct Segment {
  size_t begin;
  size_t end;
};

bool BeginsSegment(std::string_view text, size_t at) {
  return NfcClassOf(DecodeUtf8(text.data() + at).code_point) == NfcClass::kStarter;
}

// Returns the first segment from `at` on that NFC may change, or an empty one at text.size().
Segment NextDoubtfulSegment(std::string_view text, size_t at) {
  size_t begin = FirstDoubt(text, at);
  if (begin == text.size()) return {begin, begin};
  while (begin > at && !BeginsSegment(text, begin)) begin = PreviousChar(text, begin);
  size_t end = begin;
  do end += DecodeUtf8(text.data() + end).length;
  while (end < text.size() && !BeginsSegment(text, end));
  return {begin, end};
}

// Sorts each run of marks by combining class and keeps the order of equal classes.
void SortMarks(std::u32string* text) {
  const auto is_starter = [](char32_t code_point) { return CombiningClassOf(code_point) == 0; };
  for (auto begin = text->begin(); begin != text->end();) {
    begin = std::find_if_not(begin, text->end(), is_starter);
    const auto end = std::find_if(begin, text->end(), is_starter);
    std::ranges::stable_sort(begin, end, {}, CombiningClassOf);
    begin = end;
  }
}

// Composes each character with the last starter before it, unless a character between them has the
// same combining class or a higher one.
void ComposeInPlace(std::u32string* text) {
  constexpr size_t kNone = std::u32string::npos;
  size_t starter = kNone;
  size_t size = 0;
  uint8_t last_class = 0;
  for (const char32_t code_point : *text) {
    const uint8_t combining_class = CombiningClassOf(code_point);
    const bool is_adjacent = starter + 1 == size;
    if (starter != kNone && (is_adjacent || last_class < combining_class)) {
      if (const char32_t composed = Compose((*text)[starter], code_point)) {
        (*text)[starter] = composed;
        continue;
      }
    }
    if (combining_class == 0) starter = size;
    last_class = combining_class;
    (*text)[size++] = code_point;
  }
  text->resize(size);
}

void AppendSegmentAsNfc(std::string_view segment, std::string* out) {
  std::u32string text;
  for (size_t at = 0; at < segment.size();) {
    const DecodedChar decoded = DecodeUtf8(segment.data() + at);
    AppendDecomposition(decoded.code_point, &text);
    at += decoded.length;
  }
  SortMarks(&text);
  ComposeInPlace(&text);
  for (const char32_t code_point : text) AppendUtf8(code_point, out);
}

}  // namespace

bool IsNfc(std::string_view text) {
  std::string normalized;
  for (size_t at = 0; at < text.size();) {
    const auto [begin, end] = NextDoubtfulSegment(text, at);
    const std::string_view segment = text.substr(begin, end - begin);
    normalized.clear();
    AppendSegmentAsNfc(segment, &normalized);
    if (normalized != segment) return false;
    at = end;
  }
  return true;
}

std::string ToNfc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto [begin, end] = NextDoubtfulSegment(text, at);
    out.append(text, at, begin - at);
    AppendSegmentAsNfc(text.substr(begin, end - begin), &out);
    at = end;
  }
  return out;
}

}  // namespace trainyard::data
