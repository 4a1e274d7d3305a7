#include "data/split/piece_scanner.h"

#include <bit>

#include "data/split/scalar_split.h"
#include "data/split/window_split.h"

namespace trainyard::data {

size_t PieceScanner::Next(uint32_t* ends, size_t capacity) {
  size_t count = 0;
  while (count < capacity) {
    if (pending_ == 0) {
      window_ = begin_;
      if (window_ == text_.size()) break;
      pending_ = PieceEndsInWindow(rule_, text_, window_);
      if (pending_ == 0) {
        begin_ = ScalarPieceEnd(rule_, text_, window_);
        ends[count++] = static_cast<uint32_t>(begin_);
        continue;
      }
      begin_ = window_ + static_cast<size_t>(std::bit_width(pending_)) - 1;
    }
    for (; pending_ != 0 && count < capacity; pending_ &= pending_ - 1) {
      ends[count++] = static_cast<uint32_t>(window_ + std::countr_zero(pending_));
    }
  }
  return count;
}

}  // namespace trainyard::data
