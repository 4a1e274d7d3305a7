// Measures of the lines and paragraphs of a text. Lines end at LF.
#ifndef TRAINYARD_DATA_FILTER_LINE_MEASURES_H_
#define TRAINYARD_DATA_FILTER_LINE_MEASURES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/filter/hash_numbering.h"

namespace trainyard::data {

struct LineForm {
  // All lines, also blank ones. Text after the last LF is a line if it is not empty.
  uint64_t lines = 0;
  uint64_t bullet_lines = 0;    // begin with "-" or U+2022 after white space
  uint64_t ellipsis_lines = 0;  // end with "..." or U+2026 before white space
  // Lines that have a character other than white space.
  uint64_t text_lines = 0;
  uint64_t punctuated_lines = 0;  // text lines whose last character is one of . ! ? ' "
  uint64_t short_lines = 0;       // text lines of at most `short_length` characters
  uint64_t long_lines = 0;        // text lines of at least `long_length` characters
};

struct LineLengths {
  uint64_t short_length = 30;
  uint64_t long_length = 200;
};

// `newlines` has the offsets of all LF of the text in the functions of this file.
LineForm MeasureLineForm(std::string_view text, const std::vector<uint32_t>& newlines,
                         const LineLengths& lengths);

// Parts of the text that are equal to an earlier part.
struct Duplicates {
  uint64_t parts = 0;
  uint64_t duplicates = 0;
  uint64_t characters = 0;  // of the duplicates
};

struct DuplicateText {
  // Parts between sequences of LF. A sequence at the start or end of the text separates an empty
  // line.
  Duplicates lines;
  uint64_t text_line_characters = 0;  // characters of duplicate lines that are not blank
  // Parts between sequences of two or more LF, after white space at both ends has been removed.
  Duplicates paragraphs;
};

// Parts are equal if their 64-bit hashes are equal.
DuplicateText MeasureDuplicateText(std::string_view text, const std::vector<uint32_t>& newlines,
                                   HashNumbering& numbering);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_LINE_MEASURES_H_
