#include "data/filter/text_scan.h"

#include <bit>
#include <cstddef>

#include "data/split/window_classes.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace trainyard::data {
namespace {

// Masks of single bytes, as in WindowClasses.
struct ByteMasks {
  uint64_t newline = 0;
  uint64_t hash_sign = 0;
  uint64_t dot = 0;
  uint64_t separator = 0;  // U+001C to U+001F
};

ByteMasks MasksOfBytes(const char* bytes, size_t size) {
  ByteMasks masks;
  for (size_t i = 0; i < size; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (bytes[i] == '\n') masks.newline |= bit;
    if (bytes[i] == '#') masks.hash_sign |= bit;
    if (bytes[i] == '.') masks.dot |= bit;
    if (bytes[i] >= 0x1C && bytes[i] <= 0x1F) masks.separator |= bit;
  }
  return masks;
}

#if defined(__SSE2__)

ByteMasks MasksOfFullWindow(const char* window) {
  constexpr size_t kVectorBytes = sizeof(__m128i);
  ByteMasks masks;
  for (size_t i = 0; i < kWindowBytes; i += kVectorBytes) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(window + i));
    const auto equal = [i](__m128i a, char byte) {
      const __m128i mask = _mm_cmpeq_epi8(a, _mm_set1_epi8(byte));
      return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(mask))) << i;
    };
    masks.newline |= equal(bytes, '\n');
    masks.hash_sign |= equal(bytes, '#');
    masks.dot |= equal(bytes, '.');
    masks.separator |= equal(_mm_and_si128(bytes, _mm_set1_epi8(static_cast<char>(0xFC))), 0x1C);
  }
  return masks;
}

#else

ByteMasks MasksOfFullWindow(const char* window) { return MasksOfBytes(window, kWindowBytes); }

#endif

struct Window {
  size_t begin = 0;    // offset in the text
  uint64_t word = 0;   // bytes that are not white space
  uint64_t first = 0;  // first bytes of characters
  uint64_t letter = 0;
  uint64_t newline = 0;
  size_t size = 0;
};

class Scanner {
 public:
  Scanner(std::string_view text, WordList* words, std::vector<uint32_t>* newlines)
      : text_(text), words_(words), newlines_(newlines) {}

  TextCounts Scan() {
    for (size_t begin = 0; begin < text_.size();) begin += ScanWindow(begin);
    if (words_ != nullptr) {
      if (in_word_) EndWord(text_.size());
      words_->characters_before.push_back(static_cast<uint32_t>(counts_.word_characters));
    }
    return counts_;
  }

 private:
  // Returns the number of bytes scanned.
  size_t ScanWindow(size_t begin) {
    const WindowClasses classes = ClassifyWindow(text_, begin, /*ascii_numbers=*/false);
    const bool full = text_.size() - begin >= kWindowBytes;
    const ByteMasks bytes = full ? MasksOfFullWindow(text_.data() + begin)
                                 : MasksOfBytes(text_.data() + begin, classes.size);
    const uint64_t known = LowBits(classes.size);
    Window window;
    window.begin = begin;
    window.size = classes.size;
    window.word = known & ~(classes.space | bytes.separator);
    window.first = known & ~classes.continuation;
    window.letter = classes.letter;
    window.newline = bytes.newline & known;
    FindThreeDots(bytes.dot & known, classes.size);
    counts_.hash_signs += std::popcount(bytes.hash_sign & known);
    counts_.has_non_ascii |= classes.continuation != 0;
    Collect(window);
    Count(window);
    return classes.size;
  }

  void FindThreeDots(uint64_t dots, size_t size) {
    const uint64_t one_before = dots << 1 | last_dot_;
    const uint64_t two_before = dots << 2 | last_dot_ << 1 | second_last_dot_;
    counts_.has_three_dots |= (dots & one_before & two_before) != 0;
    second_last_dot_ = size > 1 ? dots >> (size - 2) & 1 : last_dot_;
    last_dot_ = dots >> (size - 1) & 1;
  }

  void Count(const Window& window) {
    counts_.characters += std::popcount(window.first);
    counts_.letters += std::popcount(window.letter & window.first);
    counts_.word_characters += std::popcount(window.word & window.first);
    counts_.newlines += std::popcount(window.newline);
    counts_.words += std::popcount(window.word & ~(window.word << 1 | (last_is_word_ ? 1 : 0)));
    last_is_word_ = (window.word >> (window.size - 1) & 1) != 0;
  }

  // Requires that Count has not yet added this window.
  void Collect(const Window& window) {
    if (words_ == nullptr) return;
    for (uint64_t rest = window.newline; rest != 0; rest &= rest - 1) {
      newlines_->push_back(static_cast<uint32_t>(window.begin + std::countr_zero(rest)));
    }
    uint64_t edges = (window.word ^ (window.word << 1 | (in_word_ ? 1 : 0))) & LowBits(window.size);
    size_t segment = 0;  // where the part of the current word in this window begins
    for (; edges != 0; edges &= edges - 1) {
      const size_t at = std::countr_zero(edges);
      if (in_word_) {
        AddLetters(window.letter & LowBits(at) & ~LowBits(segment));
        EndWord(window.begin + at);
      } else {
        BeginWord(window, at);
        segment = at;
      }
    }
    if (in_word_) AddLetters(window.letter & ~LowBits(segment));
  }

  void BeginWord(const Window& window, size_t at) {
    in_word_ = true;
    has_letter_ = false;
    words_->spans.push_back({static_cast<uint32_t>(window.begin + at), 0});
    const uint64_t before = window.word & window.first & LowBits(at);
    words_->characters_before.push_back(
        static_cast<uint32_t>(counts_.word_characters + std::popcount(before)));
  }

  void AddLetters(uint64_t letters) { has_letter_ |= letters != 0; }

  void EndWord(size_t end) {
    in_word_ = false;
    WordSpan& word = words_->spans.back();
    word.size = static_cast<uint32_t>(end - word.begin);
    words_->with_letters += has_letter_ ? 1 : 0;
  }

  const std::string_view text_;
  WordList* const words_;
  std::vector<uint32_t>* const newlines_;
  TextCounts counts_;
  uint64_t last_dot_ = 0;  // 1 if the last byte of the previous window is a dot
  uint64_t second_last_dot_ = 0;
  bool last_is_word_ = false;
  bool in_word_ = false;
  bool has_letter_ = false;  // in the current word
};

}  // namespace

void WordList::Clear() {
  spans.clear();
  characters_before.clear();
  with_letters = 0;
}

TextCounts CountText(std::string_view text) { return Scanner(text, nullptr, nullptr).Scan(); }

TextCounts ScanText(std::string_view text, WordList* words, std::vector<uint32_t>* newlines) {
  words->Clear();
  newlines->clear();
  return Scanner(text, words, newlines).Scan();
}

}  // namespace trainyard::data
