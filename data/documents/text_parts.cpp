#include "data/documents/text_parts.h"

#include <cstddef>

namespace trainyard::data {
namespace {

constexpr size_t kStretchBytes = 32 << 10;
constexpr size_t kStretchBytesMax = 128 << 10;

std::vector<std::string_view> CutAt(const TextCuts& cuts, std::string_view text) {
  std::vector<std::string_view> stretches;
  size_t begin = 0;
  while (text.size() - begin > kStretchBytes) {
    const size_t cut = cuts.find(text, begin + kStretchBytes, text.size());
    if (cut == std::string_view::npos) break;
    stretches.push_back(text.substr(begin, cut - begin));
    begin = cut;
  }
  stretches.push_back(text.substr(begin));
  return stretches;
}

}  // namespace

std::vector<std::string_view> CutIntoStretches(std::string_view text, const TextCuts& cuts) {
  if (cuts.find) return CutAt(cuts, text);
  std::vector<std::string_view> stretches;
  while (text.size() > kStretchBytes) {
    const size_t line_end = text.find('\n', kStretchBytes - 1);
    size_t end = line_end == std::string_view::npos ? text.size() : line_end + 1;
    if (end > kStretchBytesMax) {
      end = kStretchBytes;
      while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    }
    stretches.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  if (!text.empty() || stretches.empty()) stretches.push_back(text);
  return stretches;
}

}  // namespace trainyard::data
