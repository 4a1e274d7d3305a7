#include "data/documents/text_parts.h"

#include <cstddef>

#include "data/input/text_bounds.h"

namespace trainyard::data {
namespace {

constexpr size_t kStretchBytes = 32 << 10;
constexpr size_t kStretchBytesMax = 128 << 10;

// Returns the length of the first stretch of a text longer than kStretchBytes.
size_t StretchEnd(std::string_view text) {
  const size_t word_end = FirstWordEnd(text, kStretchBytes, kStretchBytesMax);
  if (word_end != std::string_view::npos) return word_end;
  if (text.size() <= kStretchBytesMax) return text.size();
  const size_t line_end = text.find('\n', kStretchBytes - 1);
  if (line_end < kStretchBytesMax) return line_end + 1;
  return CharacterBoundary(text, kStretchBytes);
}

}  // namespace

std::vector<std::string_view> CutIntoStretches(std::string_view text) {
  std::vector<std::string_view> stretches;
  while (text.size() > kStretchBytes) {
    stretches.push_back(text.substr(0, StretchEnd(text)));
    text.remove_prefix(stretches.back().size());
  }
  if (!text.empty() || stretches.empty()) stretches.push_back(text);
  return stretches;
}

}  // namespace trainyard::data
