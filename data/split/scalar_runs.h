// Runs of characters, one character at a time, for the scalar rules.
#ifndef TRAINYARD_DATA_SPLIT_SCALAR_RUNS_H_
#define TRAINYARD_DATA_SPLIT_SCALAR_RUNS_H_

#include <cstddef>
#include <string_view>

#include "data/unicode/code_point.h"

namespace trainyard::data {

struct ScalarChar {
  CharClass char_class;
  size_t end;
};

// The character at `at`, which must be less than text.size().
inline ScalarChar CharAt(std::string_view text, size_t at) {
  const DecodedChar decoded = DecodeUtf8(text.data() + at);
  return {ClassOf(decoded.code_point), at + decoded.length};
}

inline bool IsLineEnd(char byte) { return byte == '\n' || byte == '\r'; }

// End of the run of characters of one class at `at`, at most `count` characters long.
size_t EndOfRun(std::string_view text, size_t at, CharClass char_class,
                size_t count = std::string_view::npos);

size_t EndOfLineEnds(std::string_view text, size_t at);

// End of the piece of white space at `begin`: the last character of a run belongs to the next
// piece, unless it is the only one or ends the text.
size_t EndOfSpaces(std::string_view text, size_t begin);

// End of the last CR or LF in the white space at `begin`; `begin` without one.
size_t EndOfLastLineEnd(std::string_view text, size_t begin);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_SCALAR_RUNS_H_
