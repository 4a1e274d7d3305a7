#include "data/documents/text_parts.h"

#include <cstddef>

namespace trainyard::data {
namespace {

constexpr size_t kStretchBytes = 32 << 10;
constexpr size_t kStretchBytesMax = 128 << 10;

}  // namespace

std::vector<std::string_view> CutIntoStretches(std::string_view text) {
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
