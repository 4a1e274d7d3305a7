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

  // Writes the end offsets of the next pieces, in bytes from the begin of the text, and returns
  // their number: 1 to `capacity`, or 0 at the end of the text. A piece begins at the end of the
  // piece before it. `capacity` must be at least 1.
  size_t Next(uint32_t* ends, size_t capacity);

 private:
  SplitRule rule_;
  std::string_view text_;
  size_t begin_ = 0;  // of the first piece behind the window
  size_t window_ = 0;
  uint64_t pending_ = 0;  // ends of pieces, as bits of bytes behind window_
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_PIECE_SCANNER_H_
