// Divides a text into the pieces that a byte-level BPE encodes independently.
#ifndef TRAINYARD_DATA_SPLIT_PIECE_SCANNER_H_
#define TRAINYARD_DATA_SPLIT_PIECE_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/split/split_rule.h"

namespace trainyard::data {

// The text must be valid UTF-8, shorter than 4 GiB, and outlive the scanner.
class PieceScanner {
 public:
  PieceScanner(SplitRule rule, std::string_view text) : rule_(rule), text_(text) {}

  // Writes the end offsets of the next pieces, in bytes from the start of the text, and returns
  // their number: 1 to `capacity`, or 0 at the end of the text. Each piece starts at the end of the
  // previous one. `capacity` must be at least 1.
  size_t Next(uint32_t* ends, size_t capacity);

 private:
  SplitRule rule_;
  std::string_view text_;
  size_t begin_ = 0;  // start of the first piece after the window
  size_t window_ = 0;
  uint64_t pending_ = 0;  // piece ends not yet returned; bit i: window_ + i
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_PIECE_SCANNER_H_
