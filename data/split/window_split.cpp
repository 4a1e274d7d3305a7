#include "data/split/window_split.h"

#include <bit>

#include "data/split/scalar_split.h"
#include "data/split/window_classes.h"

namespace trainyard::data {
namespace {

uint64_t Bit(size_t i) { return uint64_t{1} << i; }

// The bytes behind those in `mask`.
uint64_t After(uint64_t mask) { return mask << 1; }

// The first byte of each run of set bits.
uint64_t RunBegins(uint64_t mask) { return mask & ~After(mask); }

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

// Last white space of `spaces` before a character of another class.
uint64_t LastSpaces(const WindowClasses& classes, uint64_t spaces) {
  const uint64_t text = classes.letter | classes.number | classes.other;
  return ToFirstBytes(classes, spaces & text >> 1);
}

// Begins of runs of kOther that are not behind U+0020, which would belong to the piece.
uint64_t OtherBegins(const WindowClasses& classes) {
  return RunBegins(classes.other) & ~After(classes.ascii_space);
}

uint64_t Gpt2Begins(const WindowClasses& classes) {
  const uint64_t words =
      RunBegins(classes.letter) | RunBegins(classes.number) | RunBegins(classes.other);
  return (words & ~After(classes.ascii_space)) | RunBegins(classes.space) |
         LastSpaces(classes, classes.space);
}

// Begins of groups of three numbers. Each number must have one byte.
uint64_t TripleBegins(uint64_t number) {
  uint64_t begins = RunBegins(number);
  const uint64_t behind_two = number & After(number) & After(After(number));
  for (uint64_t next = begins; next != 0; begins |= next) next = (next << 3) & behind_two;
  return begins;
}

// Begins of pieces in white space: at its begin, unless CR and LF there belong to a kOther before
// it; behind its last CR or LF; and at its last character, if that is no CR or LF.
uint64_t Llama3SpaceBegins(const WindowClasses& classes) {
  const uint64_t line_end = classes.line_end;
  // The addition carries through a run of CR and LF behind kOther and clears it.
  const uint64_t taken = line_end & ~(line_end + (line_end & After(classes.other)));
  const uint64_t blank = classes.space & ~line_end;
  uint64_t behind_line = blank & After(line_end);
  // The addition carries to the byte behind each of these runs.
  const uint64_t behind_blank = (blank + behind_line) & ~blank;
  for (uint64_t rest = behind_blank & line_end; rest != 0; rest &= rest - 1) {
    const uint64_t begins = behind_line & (LowBits(std::countr_zero(rest)));
    behind_line &= ~std::bit_floor(begins);
  }
  return RunBegins(classes.space & ~taken) | behind_line | LastSpaces(classes, blank);
}

uint64_t Llama3Begins(const WindowClasses& classes, bool single_numbers) {
  const uint64_t other = OtherBegins(classes);
  // One character before letters belongs to their piece.
  const uint64_t before_letters = (classes.space & ~classes.line_end) | ToAllBytes(classes, other);
  const uint64_t letters = RunBegins(classes.letter) & ~After(before_letters);
  const uint64_t numbers =
      single_numbers ? classes.number & ~classes.continuation : TripleBegins(classes.number);
  return letters | numbers | other | Llama3SpaceBegins(classes);
}

// Removes the begins within contractions and adds one behind each.
uint64_t WithContractions(SplitRule rule, std::string_view text, size_t begin,
                          const WindowClasses& classes, uint64_t begins) {
  uint64_t rest = OtherBegins(classes) & classes.apostrophe & classes.letter >> 1;
  for (; rest != 0; rest &= rest - 1) {
    const size_t at = std::countr_zero(rest);
    const size_t length = ContractionLength(rule, text, begin + at);
    if (length == 0) continue;
    begins &= ~(LowBits(length) << at) | Bit(at);
    if (at + length < kWindowBytes) begins |= Bit(at + length);
  }
  return begins;
}

// The begins that do not depend on bytes behind the window. A begin depends on bytes before it,
// which are known, and a white space only becomes the last one of its run when the next byte is
// known. In Llama3SpaceBegins, CR and LF behind the window matter too.
uint64_t CertainBegins(SplitRule rule, const WindowClasses& classes, uint64_t begins) {
  if (rule == SplitRule::kGpt2 || classes.size == 0) return begins;
  if ((classes.space & Bit(classes.size - 1)) == 0) return begins;
  const size_t last_run = std::bit_width(LowBits(classes.size) & ~classes.space);
  return begins & LowBits(last_run + 1);
}

}  // namespace

uint64_t PieceEndsInWindow(SplitRule rule, std::string_view text, size_t begin) {
  const WindowClasses classes = ClassifyWindow(text, begin, rule == SplitRule::kLlama3);
  uint64_t begins = rule == SplitRule::kGpt2 ? Gpt2Begins(classes)
                                             : Llama3Begins(classes, rule == SplitRule::kQwen3);
  begins = WithContractions(rule, text, begin, classes, begins);
  const bool ends_text = begin + classes.size == text.size() && classes.size < kWindowBytes;
  if (ends_text) {
    begins = (begins & LowBits(classes.size)) | Bit(classes.size);
  } else {
    begins = CertainBegins(rule, classes, begins);
  }
  return begins & ~Bit(0);
}

}  // namespace trainyard::data
