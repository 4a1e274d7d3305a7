#include "data/split/window_split.h"

#include <bit>

#include "data/split/deepseek_window.h"
#include "data/split/scalar_split.h"
#include "data/split/window_bits.h"
#include "data/split/window_classes.h"

namespace trainyard::data {
namespace {

// Starts of runs of kOther, except for runs after a U+0020, which is the start of their piece.
uint64_t OtherStarts(const WindowClasses& classes) {
  return RunStarts(classes.other) & ~After(classes.ascii_space);
}

// Characters other than white space.
uint64_t TextOf(const WindowClasses& classes) {
  return classes.letter | classes.number | classes.other;
}

uint64_t Gpt2Starts(const WindowClasses& classes) {
  const uint64_t words =
      RunStarts(classes.letter) | RunStarts(classes.number) | RunStarts(classes.other);
  return (words & ~After(classes.ascii_space)) | RunStarts(classes.space) |
         LastBefore(classes, classes.space, TextOf(classes));
}

uint64_t Llama3Starts(const WindowClasses& classes, bool single_numbers) {
  const uint64_t other = OtherStarts(classes);
  // One character before letters belongs to their piece.
  const uint64_t before_letters = (classes.space & ~classes.line_end) | ToAllBytes(classes, other);
  const uint64_t letters = RunStarts(classes.letter) & ~After(before_letters);
  const uint64_t numbers =
      single_numbers ? classes.number & ~classes.continuation : TripleStarts(classes.number);
  return letters | numbers | other | SpaceStarts(classes, classes.other, TextOf(classes));
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

// Removes the starts that depend on bytes after the window. Only SpaceStarts has such starts:
// a CR or LF after the window can belong to the last run of white space.
uint64_t CertainStarts(SplitRule rule, const WindowClasses& classes, uint64_t starts) {
  if (rule == SplitRule::kGpt2 || classes.size == 0) return starts;
  if ((classes.space & Bit(classes.size - 1)) == 0) return starts;
  const size_t last_run = std::bit_width(LowBits(classes.size) & ~classes.space);
  return starts & LowBits(last_run + 1);
}

uint64_t Starts(SplitRule rule, std::string_view text, size_t begin, const WindowClasses& classes) {
  if (rule == SplitRule::kDeepseek3) {
    return DeepseekStarts(classes, ClassifyOthers(text, begin, classes));
  }
  const uint64_t starts = rule == SplitRule::kGpt2
                              ? Gpt2Starts(classes)
                              : Llama3Starts(classes, rule == SplitRule::kQwen3);
  return WithContractions(rule, text, begin, classes, starts);
}

}  // namespace

uint64_t PieceEndsInWindow(SplitRule rule, std::string_view text, size_t begin) {
  const bool ascii_numbers = rule == SplitRule::kLlama3 || rule == SplitRule::kDeepseek3;
  const WindowClasses classes = ClassifyWindow(text, begin, ascii_numbers);
  uint64_t starts = Starts(rule, text, begin, classes);
  const bool ends_text = begin + classes.size == text.size() && classes.size < kWindowBytes;
  if (ends_text) {
    starts = (starts & LowBits(classes.size)) | Bit(classes.size);
  } else {
    starts = CertainStarts(rule, classes, starts);
  }
  return starts & ~Bit(0);
}

}  // namespace trainyard::data
