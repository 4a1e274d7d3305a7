#include "data/split/piece_scanner.h"

#include "data/split/scalar_split.h"

namespace trainyard::data {

size_t PieceScanner::Next(uint32_t* ends, size_t capacity) {
  size_t count = 0;
  while (count < capacity && begin_ < text_.size()) {
    begin_ = ScalarPieceEnd(rule_, text_, begin_);
    ends[count++] = static_cast<uint32_t>(begin_);
  }
  return count;
}

}  // namespace trainyard::data
