#include "data/unicode/composition.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace trainyard::data {
namespace {

// Hangul syllables are composed by arithmetic: section 3.12 of the Unicode standard.
constexpr char32_t kSyllables = 0xAC00;
constexpr char32_t kLeads = 0x1100;
constexpr char32_t kVowels = 0x1161;
constexpr char32_t kTails = 0x11A7;  // the first one stands for "no tail"
constexpr char32_t kLeadCount = 19;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

bool IsIn(char32_t code_point, char32_t begin, char32_t count) {
  return code_point >= begin && code_point < begin + count;
}

char32_t ComposeHangul(char32_t first, char32_t second) {
  if (IsIn(first, kLeads, kLeadCount) && IsIn(second, kVowels, kVowelCount)) {
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
  }
  const bool has_no_tail =
      IsIn(first, kSyllables, kSyllableCount) && (first - kSyllables) % kTailCount == 0;
  if (has_no_tail && IsIn(second, kTails + 1, kTailCount - 1)) return first + (second - kTails);
  return 0;
}

void AppendHangulDecomposition(char32_t code_point, std::u32string* text) {
  const char32_t index = code_point - kSyllables;
  *text += kLeads + index / (kVowelCount * kTailCount);
  *text += kVowels + index / kTailCount % kVowelCount;
  if (index % kTailCount != 0) *text += kTails + index % kTailCount;
}

// All decompositions, sorted by code point.
const std::vector<Decomposition>& Decompositions() {
  static const std::vector<Decomposition> decompositions = [] {
    std::vector<Decomposition> all(kCompositions, kCompositions + kCompositionsSize);
    all.insert(all.end(), kOneWayDecompositions, kOneWayDecompositions + kOneWayDecompositionsSize);
    std::ranges::sort(all, {}, &Decomposition::code_point);
    return all;
  }();
  return decompositions;
}

// The entry of `code_point`, or nullptr.
const Decomposition* FindDecomposition(char32_t code_point) {
  const std::vector<Decomposition>& all = Decompositions();
  const auto found = std::ranges::lower_bound(all, code_point, {}, &Decomposition::code_point);
  return found != all.end() && found->code_point == code_point ? &*found : nullptr;
}

}  // namespace

uint8_t CombiningClassOf(char32_t code_point) {
  const std::span ranges(kCombiningRanges, kCombiningRangesSize);
  const auto found = std::ranges::upper_bound(ranges, code_point, {}, &CombiningRange::end);
  return found != ranges.end() && code_point >= found->begin ? found->combining_class : 0;
}

char32_t Compose(char32_t first, char32_t second) {
  if (const char32_t syllable = ComposeHangul(first, second)) return syllable;
  const std::span pairs(kCompositions, kCompositionsSize);
  const auto parts = [](const Decomposition& pair) { return std::pair(pair.first, pair.second); };
  const auto found = std::ranges::lower_bound(pairs, std::pair(first, second), {}, parts);
  return found != pairs.end() && parts(*found) == std::pair(first, second) ? found->code_point : 0;
}

bool Decomposes(char32_t code_point) {
  return IsIn(code_point, kSyllables, kSyllableCount) || FindDecomposition(code_point) != nullptr;
}

void AppendDecomposition(char32_t code_point, std::u32string* text) {
  if (IsIn(code_point, kSyllables, kSyllableCount)) {
    AppendHangulDecomposition(code_point, text);
  } else if (const Decomposition* found = FindDecomposition(code_point)) {
    // Only the first part can decompose further.
    AppendDecomposition(found->first, text);
    if (found->second != 0) *text += found->second;
  } else {
    *text += code_point;
  }
}

}  // namespace trainyard::data
