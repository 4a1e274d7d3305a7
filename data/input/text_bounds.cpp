#include "data/input/text_bounds.h"

#include <algorithm>
#include <string>

namespace trainyard::data {

namespace {

bool IsAsciiLetter(char byte) {
  const char lower = static_cast<char>(byte | 0x20);
  return lower >= 'a' && lower <= 'z';
}

}  // namespace

size_t FirstWordEnd(std::string_view text, size_t begin, size_t end) {
  text = text.substr(0, end);
  for (size_t at = text.find('\n', begin); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    if (at > 0 && IsAsciiLetter(text[at - 1])) return at;
  }
  return std::string_view::npos;
}

size_t LastWordEnd(std::string_view text, size_t begin) {
  for (size_t at = text.rfind('\n'); at != std::string_view::npos && at >= begin && at > 0;
       at = text.rfind('\n', at - 1)) {
    if (IsAsciiLetter(text[at - 1])) return at;
  }
  return std::string_view::npos;
}

size_t CharacterBoundary(std::string_view text, size_t at) {
  // A character has at most three bytes after its first one, so one that began before `at` ends
  // before `at` + 3.
  for (const size_t last = at + 3; at < last && at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) break;
  }
  return std::min(at, text.size());
}

absl::Status RefuseUtf16(const RawBlock& block) {
  const std::string_view start = std::string_view(block.bytes).substr(0, 2);
  if (!block.begins_file || (start != "\xFF\xFE" && start != "\xFE\xFF")) return absl::OkStatus();
  return absl::DataLossError(block.file->path +
                             ": UTF-16 text; convert the file first, for example with `iconv -f "
                             "UTF-16 -t UTF-8`, or omit it from the inputs");
}

}  // namespace trainyard::data
