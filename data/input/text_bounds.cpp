#include "data/input/text_bounds.h"

#include <algorithm>
#include <string>

namespace trainyard::data {

size_t CharacterBoundary(std::string_view text, size_t at) {
  // A character has at most three bytes after its first one, so one that began before `at` ends
  // before `at` + 3.
  for (const size_t last = at + 3; at < last && at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) break;
  }
  return std::min(at, text.size());
}

absl::Status TooLongWithoutCut(const InputFile& file) {
  return absl::DataLossError(
      file.path +
      ": more than 256 MiB without a line end at which the tokenizer allows a cut; divide the text "
      "into documents, or omit it from the inputs");
}

absl::Status RefuseUtf16(const RawBlock& block) {
  const std::string_view start = std::string_view(block.bytes).substr(0, 2);
  if (!block.begins_file || (start != "\xFF\xFE" && start != "\xFE\xFF")) return absl::OkStatus();
  return absl::DataLossError(block.file->path +
                             ": UTF-16 text; convert the file first, for example with `iconv -f "
                             "UTF-16 -t UTF-8`, or omit it from the inputs");
}

}  // namespace trainyard::data
