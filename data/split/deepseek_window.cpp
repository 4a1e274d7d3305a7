#include "data/split/deepseek_window.h"

#include "data/split/window_bits.h"

namespace trainyard::data {
namespace {

uint64_t SegmentStarts(const WindowClasses& classes, const OtherClasses& others) {
  const uint64_t rest = LowBits(classes.size) & ~(classes.number | others.kana_or_han);
  return TripleStarts(classes.number) | RunStarts(others.kana_or_han) | RunStarts(rest);
}

}  // namespace

uint64_t DeepseekStarts(const WindowClasses& classes, const OtherClasses& others) {
  const uint64_t segments = SegmentStarts(classes, others);
  const uint64_t words = classes.letter | others.mark;
  const uint64_t blank = classes.space & ~classes.line_end;
  // A symbol after U+0020 belongs to the piece that starts there.
  const uint64_t symbols =
      (RunStarts(others.symbol) & ~After(classes.ascii_space)) | (segments & others.symbol);
  // ASCII letters after one ASCII symbol belong to its piece, which ends with the last of them. The
  // addition sets the bit after these letters.
  const uint64_t prefixed = After(symbols & others.ascii_symbol) & others.ascii_letter;
  const uint64_t after_prefixed = (others.ascii_letter + prefixed) & ~others.ascii_letter;
  const uint64_t word_starts =
      (RunStarts(words) & ~After(blank | others.control) & ~prefixed) | (after_prefixed & words);
  // The last control before a word belongs to the word.
  const uint64_t controls =
      RunStarts(others.control) | LastBefore(classes, others.control, words & ~segments);
  const uint64_t after_spaces = LowBits(classes.size) & ~classes.space & ~segments;
  return segments | symbols | word_starts | controls |
         SpaceStarts(classes, others.symbol & ~others.kana_or_han, after_spaces);
}

}  // namespace trainyard::data
