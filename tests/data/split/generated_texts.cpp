#include "tests/data/split/generated_texts.h"

#include <array>
#include <string_view>

namespace trainyard::data {
namespace {

// SplitMix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Below(uint64_t limit) {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return (z ^ z >> 31) % limit;
  }

 private:
  uint64_t state_;
};

constexpr std::array<std::string_view, 80> kAtoms = {
    // Letters of one to four bytes; the parts of contractions in both cases; long s.
    "a", "Z", "word", "The", "s", "t", "re", "ve", "m", "ll", "d", "S", "RE", "lL", "\u00E9",
    "\u0436", "\u4E2D\u6587", "\u304B", "\u017F", "\u212A", "\u00AA", "\U00010348", "\u0E01",
    // Apostrophes and contractions.
    "'", "'", "'s", "'RE", "'\u017F", "'ll", "\u2019",
    // Numbers.
    "1", "23", "4567", "89012345", "\u0663", "\u00BD", "\u2167", "\U0001D7D8",
    // White space, and characters that only look like it.
    " ", " ", " ", "  ", "    ", "\t", "\n", "\n", "\n\n", "\r\n", "\r", "\v", "\u00A0", "\u0085",
    "\u2003", "\u3000", "\u2028", "\u180E", "\uFEFF", "\u200B", "\x1F",
    // Others: marks, punctuation, symbols, a control character.
    "\u0301", "\u094D", "(", ")", ".", "...", "-", "_", "\u20AC", "\U0001F600", "\u3002", "~",
    "\x01", "\x7F",
    // Characters of kana and Han blocks: symbols, a mark, an unassigned one, and the first one
    // after
    // the range of DeepSeek-V3.
    "\u30FB", "\u30FC", "\u309B", "\u3099", "\u3040", "\u9FA5", "\u9FA6"};

}  // namespace

std::string GeneratedText(uint64_t number) {
  Random random(number);
  // Texts of few atoms have long runs of one class and repeat each transition.
  std::array<std::string_view, 5> few;
  for (std::string_view& atom : few) atom = kAtoms[random.Below(kAtoms.size())];
  const bool uses_few = number % 2 == 0;
  const uint64_t repeats = number % 8 == 0 ? 90 : 1;
  std::string text;
  for (uint64_t left = 1 + random.Below(60); left > 0; --left) {
    const std::string_view atom =
        uses_few ? few[random.Below(few.size())] : kAtoms[random.Below(kAtoms.size())];
    const uint64_t count = random.Below(8) == 0 ? 1 + random.Below(repeats) : 1;
    for (uint64_t i = 0; i < count; ++i) text += atom;
  }
  return text;
}

}  // namespace trainyard::data
