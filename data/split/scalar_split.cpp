#include "data/split/scalar_split.h"

#include "data/unicode/code_point.h"

namespace trainyard::data {
namespace {

constexpr std::string_view kLongS = "\xC5\xBF";

struct Char {
  CharClass char_class;
  size_t end;
};

Char CharAt(std::string_view text, size_t at) {
  const DecodedChar decoded = DecodeUtf8(text.data() + at);
  return {ClassOf(decoded.code_point), at + decoded.length};
}

bool IsLineEnd(char byte) { return byte == '\n' || byte == '\r'; }

// End of the run of characters of one class at `at`, at most `count` characters long.
size_t EndOfRun(std::string_view text, size_t at, CharClass char_class,
                size_t count = std::string_view::npos) {
  for (; at < text.size() && count > 0; --count) {
    const Char next = CharAt(text, at);
    if (next.char_class != char_class) break;
    at = next.end;
  }
  return at;
}

size_t EndOfLineEnds(std::string_view text, size_t at) {
  while (at < text.size() && IsLineEnd(text[at])) ++at;
  return at;
}

// End of the piece of white space at `begin`: the last character of a run belongs to the next
// piece, unless it is the only one or ends the text.
size_t EndOfSpaces(std::string_view text, size_t begin) {
  size_t last = begin;
  size_t end = begin;
  while (end < text.size()) {
    const Char next = CharAt(text, end);
    if (next.char_class != CharClass::kSpace) return last == begin ? end : last;
    last = end;
    end = next.end;
  }
  return end;
}

// End of the last CR or LF in the white space at `begin`; `begin` without one.
size_t EndOfLastLineEnd(std::string_view text, size_t begin) {
  size_t found = begin;
  for (size_t at = begin; at < text.size();) {
    const Char next = CharAt(text, at);
    if (next.char_class != CharClass::kSpace) break;
    if (IsLineEnd(text[at])) found = next.end;
    at = next.end;
  }
  return found;
}

size_t Gpt2PieceEnd(std::string_view text, size_t begin) {
  if (text[begin] == '\'') {
    const size_t length = ContractionLength(SplitRule::kGpt2, text, begin);
    if (length > 0) return begin + length;
  }
  const size_t at = begin + (text[begin] == ' ');
  if (at < text.size()) {
    const CharClass char_class = CharAt(text, at).char_class;
    if (char_class != CharClass::kSpace) return EndOfRun(text, at, char_class);
  }
  return EndOfSpaces(text, begin);
}

size_t SpacePieceEnd(std::string_view text, size_t begin) {
  if (text[begin] == ' ') {
    const size_t end = EndOfRun(text, begin + 1, CharClass::kOther);
    if (end > begin + 1) return EndOfLineEnds(text, end);
  }
  const size_t end = EndOfLastLineEnd(text, begin);
  return end > begin ? end : EndOfSpaces(text, begin);
}

size_t Llama3PieceEnd(SplitRule rule, std::string_view text, size_t begin) {
  if (text[begin] == '\'') {
    const size_t length = ContractionLength(rule, text, begin);
    if (length > 0) return begin + length;
  }
  const Char first = CharAt(text, begin);
  if (first.char_class == CharClass::kNumber) {
    return EndOfRun(text, begin, CharClass::kNumber, rule == SplitRule::kQwen3 ? 1 : 3);
  }
  if (!IsLineEnd(text[begin])) {
    const size_t end = EndOfRun(text, first.end, CharClass::kLetter);
    if (end > first.end || first.char_class == CharClass::kLetter) return end;
  }
  if (first.char_class == CharClass::kSpace) return SpacePieceEnd(text, begin);
  return EndOfLineEnds(text, EndOfRun(text, begin, CharClass::kOther));
}

// `byte` in lower case, if it is an ASCII letter.
char ToLower(char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte; }

}  // namespace

size_t ContractionLength(SplitRule rule, std::string_view text, size_t at) {
  const bool any_case = rule != SplitRule::kGpt2;
  const auto letter = [&](size_t i) {
    if (at + i >= text.size()) return '\0';
    return any_case ? ToLower(text[at + i]) : text[at + i];
  };
  const char first = letter(1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  const char second = letter(2);
  if (second == 'e' && (first == 'r' || first == 'v')) return 3;
  if (second == 'l' && first == 'l') return 3;
  return any_case && text.substr(at + 1, kLongS.size()) == kLongS ? 1 + kLongS.size() : 0;
}

size_t ScalarPieceEnd(SplitRule rule, std::string_view text, size_t begin) {
  return rule == SplitRule::kGpt2 ? Gpt2PieceEnd(text, begin) : Llama3PieceEnd(rule, text, begin);
}

}  // namespace trainyard::data
