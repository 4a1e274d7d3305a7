// Classes of the characters in a window of 64 bytes as bit masks.
#ifndef TRAINYARD_DATA_SPLIT_WINDOW_CLASSES_H_
#define TRAINYARD_DATA_SPLIT_WINDOW_CLASSES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trainyard::data {

constexpr size_t kWindowBytes = 64;

// Mask of the lowest `count` bits; `count` is at most 64.
inline uint64_t LowBits(size_t count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// Bit i of a mask stands for byte i of the window. All bytes of a character have its class. Bits
// from `size` on are 0.
struct WindowClasses {
  size_t size = 0;  // bytes of the complete characters that have been classified
  uint64_t letter = 0;
  uint64_t number = 0;
  uint64_t space = 0;  // white space
  uint64_t other = 0;
  uint64_t ascii_space = 0;  // U+0020
  uint64_t line_end = 0;     // CR and LF
  uint64_t apostrophe = 0;
  uint64_t continuation = 0;  // bytes of a character after its first one
};

// The parts of WindowClasses::other, and other masks that only SplitRule::kDeepseek3 needs.
struct OtherClasses {
  uint64_t mark = 0;
  uint64_t symbol = 0;
  uint64_t control = 0;
  uint64_t kana_or_han = 0;  // IsKanaOrHan
  uint64_t ascii_letter = 0;
  uint64_t ascii_symbol = 0;
};

// Classifies the characters of `text` from `begin` on. With `ascii_numbers`, stops before the first
// number that is not ASCII, so that each number has one byte. The text must be valid UTF-8.
WindowClasses ClassifyWindow(std::string_view text, size_t begin, bool ascii_numbers);

// `classes` is the result of ClassifyWindow for the same text.
OtherClasses ClassifyOthers(std::string_view text, size_t begin, const WindowClasses& classes);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_WINDOW_CLASSES_H_
