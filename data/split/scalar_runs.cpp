#include "data/split/scalar_runs.h"

namespace trainyard::data {

size_t EndOfRun(std::string_view text, size_t at, CharClass char_class, size_t count) {
  for (; at < text.size() && count > 0; --count) {
    const ScalarChar next = CharAt(text, at);
    if (next.char_class != char_class) break;
    at = next.end;
  }
  return at;
}

size_t EndOfLineEnds(std::string_view text, size_t at) {
  while (at < text.size() && IsLineEnd(text[at])) ++at;
  return at;
}

size_t EndOfSpaces(std::string_view text, size_t begin) {
  size_t last = begin;
  size_t end = begin;
  while (end < text.size()) {
    const ScalarChar next = CharAt(text, end);
    if (next.char_class != CharClass::kSpace) return last == begin ? end : last;
    last = end;
    end = next.end;
  }
  return end;
}

size_t EndOfLastLineEnd(std::string_view text, size_t begin) {
  size_t found = begin;
  for (size_t at = begin; at < text.size();) {
    const ScalarChar next = CharAt(text, at);
    if (next.char_class != CharClass::kSpace) break;
    if (IsLineEnd(text[at])) found = next.end;
    at = next.end;
  }
  return found;
}

}  // namespace trainyard::data
