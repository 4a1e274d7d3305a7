// Operations on the bit masks of a window.
#ifndef TRAINYARD_DATA_SPLIT_WINDOW_BITS_H_
#define TRAINYARD_DATA_SPLIT_WINDOW_BITS_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "data/split/window_classes.h"

namespace trainyard::data {

inline uint64_t Bit(size_t i) { return uint64_t{1} << i; }

// The bytes that follow those in `mask`.
inline uint64_t After(uint64_t mask) { return mask << 1; }

// The first byte of each run of set bits.
inline uint64_t RunStarts(uint64_t mask) { return mask & ~After(mask); }

// First bytes of the characters whose last bytes are in `mask`.
inline uint64_t ToFirstBytes(const WindowClasses& classes, uint64_t mask) {
  for (int i = 0; i < 3 && (mask & classes.continuation) != 0; ++i) {
    mask = (mask & ~classes.continuation) | (mask & classes.continuation) >> 1;
  }
  return mask;
}

// All bytes of the characters whose first bytes are in `mask`.
inline uint64_t ToAllBytes(const WindowClasses& classes, uint64_t mask) {
  if (classes.continuation == 0) return mask;
  for (int i = 0; i < 3; ++i) mask |= After(mask) & classes.continuation;
  return mask;
}

// First bytes of the last character of each run in `mask` that one of `next` follows.
inline uint64_t LastBefore(const WindowClasses& classes, uint64_t mask, uint64_t next) {
  return ToFirstBytes(classes, mask & next >> 1);
}

// Starts of groups of up to three numbers. Each number must have one byte.
inline uint64_t TripleStarts(uint64_t number) {
  uint64_t starts = RunStarts(number);
  const uint64_t third = number & After(number) & After(After(number));
  for (uint64_t next = starts; next != 0; starts |= next) next = (next << 3) & third;
  return starts;
}

// Starts of pieces in white space, if it is divided after its last CR or LF. `symbols` take the CR
// and LF after them, and `next` are the characters that can follow white space. A piece starts
// - at the start of a run, after the CR and LF that belong to a symbol before the run;
// - after the last CR or LF of a run;
// - at the last character of a run, unless it is CR or LF, if one of `next` follows.
inline uint64_t SpaceStarts(const WindowClasses& classes, uint64_t symbols, uint64_t next) {
  const uint64_t line_end = classes.line_end;
  // The addition clears each run of CR and LF that follows a symbol.
  const uint64_t taken = line_end & ~(line_end + (line_end & After(symbols)));
  const uint64_t blank = classes.space & ~line_end;
  uint64_t after_line = blank & After(line_end);
  // The addition sets the bit after each run of blanks that follows a CR or LF.
  const uint64_t after_blank = (blank + after_line) & ~blank;
  for (uint64_t rest = after_blank & line_end; rest != 0; rest &= rest - 1) {
    const uint64_t earlier = after_line & LowBits(std::countr_zero(rest));
    after_line &= ~std::bit_floor(earlier);
  }
  return RunStarts(classes.space & ~taken) | after_line | LastBefore(classes, blank, next);
}

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_WINDOW_BITS_H_
