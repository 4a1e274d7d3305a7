#include "data/split/window_split.h"

#include <bit>

#include "data/split/scalar_split.h"
#include "data/split/window_classes.h"

namespace trainyard::data {
namespace {

uint64_t Bit(size_t i) { return uint64_t{1} << i; }

// The bytes that follow those in `mask`.
uint64_t After(uint64_t mask) { return mask << 1; }

// The first byte of each run of set bits.
uint64_t RunStarts(uint64_t mask) { return mask & ~After(mask); }

// First bytes of the characters whose last bytes are in `mask`.
uint64_t ToFirstBytes(const WindowClasses& classes, uint64_t mask) {
  for (int i = 0; i < 3 && (mask & classes.continuation) != 0; ++i) {
    mask = (mask & ~classes.continuation) | (mask & classes.continuation) >> 1;
  }
  return mask;
}

// All bytes of the characters whose first bytes are in `mask`.
uint64_t ToAllBytes(const WindowClasses& classes, uint64_t mask) {
  if (classes.continuation == 0) return mask;
  for (int i = 0; i < 3; ++i) mask |= After(mask) & classes.continuation;
  return mask;
}

// First bytes of the last white space of each run in `spaces`, if another class follows.
uint64_t LastSpaces(const WindowClasses& classes, uint64_t spaces) {
  const uint64_t text = classes.letter | classes.number | classes.other;
  return ToFirstBytes(classes, spaces & text >> 1);
}

// Starts of runs of kOther, except for runs after a U+0020, which is the start of their piece.
uint64_t OtherStarts(const WindowClasses& classes) {
  return RunStarts(classes.other) & ~After(classes.ascii_space);
}

uint64_t Gpt2Starts(const WindowClasses& classes) {
  const uint64_t words =
      RunStarts(classes.letter) | RunStarts(classes.number) | RunStarts(classes.other);
  return (words & ~After(classes.ascii_space)) | RunStarts(classes.space) |
         LastSpaces(classes, classes.space);
}

// Starts of groups of up to three numbers. Each number must have one byte.
uint64_t TripleStarts(uint64_t number) {
  uint64_t starts = RunStarts(number);
  const uint64_t third = number & After(number) & After(After(number));
  for (uint64_t next = starts; next != 0; starts |= next) next = (next << 3) & third;
  return starts;
}

// Starts of pieces in white space. A piece starts
// - at the start of a run, after the CR and LF that belong to a kOther before the run;
// - after the last CR or LF of a run;
// - at the last character of a run, unless it is CR or LF, if another class follows.
uint64_t Llama3SpaceStarts(const WindowClasses& classes) {
  const uint64_t line_end = classes.line_end;
  // The addition clears each run of CR and LF that follows a kOther.
  const uint64_t taken = line_end & ~(line_end + (line_end & After(classes.other)));
  const uint64_t blank = classes.space & ~line_end;
  uint64_t after_line = blank & After(line_end);
  // The addition sets the bit after each run of blanks that follows a CR or LF.
  const uint64_t after_blank = (blank + after_line) & ~blank;
  for (uint64_t rest = after_blank & line_end; rest != 0; rest &= rest - 1) {
    const uint64_t earlier = after_line & LowBits(std::countr_zero(rest));
    after_line &= ~std::bit_floor(earlier);
  }
  return RunStarts(classes.space & ~taken) | after_line | LastSpaces(classes, blank);
}

uint64_t Llama3Starts(const WindowClasses& classes, bool single_numbers) {
  const uint64_t other = OtherStarts(classes);
  // One character before letters belongs to their piece.
  const uint64_t before_letters = (classes.space & ~classes.line_end) | ToAllBytes(classes, other);
  const uint64_t letters = RunStarts(classes.letter) & ~After(before_letters);
  const uint64_t numbers =
      single_numbers ? classes.number & ~classes.continuation : TripleStarts(classes.number);
  return letters | numbers | other | Llama3SpaceStarts(classes);
}

// Removes the starts inside contractions and adds one after each contraction.
uint64_t WithContractions(SplitRule rule, std::string_view text, size_t begin,
                          const WindowClasses& classes, uint64_t starts) {
  uint64_t rest = OtherStarts(classes) & classes.apostrophe & classes.letter >> 1;
  for (; rest != 0; rest &= rest - 1) {
    const size_t at = std::countr_zero(rest);
    const size_t length = ContractionLength(rule, text, begin + at);
    if (length == 0) continue;
    starts &= ~(LowBits(length) << at) | Bit(at);
    if (at + length < kWindowBytes) starts |= Bit(at + length);
  }
  return starts;
}

// Removes the starts that depend on bytes after the window. Only Llama3SpaceStarts has such starts:
// a CR or LF after the window can belong to the last run of white space.
uint64_t CertainStarts(SplitRule rule, const WindowClasses& classes, uint64_t starts) {
  if (rule == SplitRule::kGpt2 || classes.size == 0) return starts;
  if ((classes.space & Bit(classes.size - 1)) == 0) return starts;
  const size_t last_run = std::bit_width(LowBits(classes.size) & ~classes.space);
  return starts & LowBits(last_run + 1);
}

}  // namespace

uint64_t PieceEndsInWindow(SplitRule rule, std::string_view text, size_t begin) {
  const WindowClasses classes = ClassifyWindow(text, begin, rule == SplitRule::kLlama3);
  uint64_t starts = rule == SplitRule::kGpt2 ? Gpt2Starts(classes)
                                             : Llama3Starts(classes, rule == SplitRule::kQwen3);
  starts = WithContractions(rule, text, begin, classes, starts);
  const bool ends_text = begin + classes.size == text.size() && classes.size < kWindowBytes;
  if (ends_text) {
    starts = (starts & LowBits(classes.size)) | Bit(classes.size);
  } else {
    starts = CertainStarts(rule, classes, starts);
  }
  return starts & ~Bit(0);
}

}  // namespace trainyard::data
