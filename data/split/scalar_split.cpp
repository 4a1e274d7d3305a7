#include "data/split/scalar_split.h"

#include "data/split/deepseek_scalar.h"
#include "data/split/scalar_runs.h"

namespace trainyard::data {
namespace {

constexpr std::string_view kLongS = "\xC5\xBF";

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
  const ScalarChar first = CharAt(text, begin);
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
  if (rule == SplitRule::kGpt2) return Gpt2PieceEnd(text, begin);
  if (rule == SplitRule::kDeepseek3) return DeepseekPieceEnd(text, begin);
  return Llama3PieceEnd(rule, text, begin);
}

}  // namespace trainyard::data
