#include "data/documents/text_parts.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::data {
namespace {

constexpr size_t kStretchBytes = 32 << 10;
constexpr size_t kStretchBytesMax = 128 << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

absl::Status NotUtf8(const RawBlock& block, size_t offset) {
  const unsigned char byte = static_cast<unsigned char>(block.bytes[offset]);
  char hex[8];
  std::snprintf(hex, sizeof(hex), "0x%02x", byte);
  return absl::DataLossError(block.file->path + ": not UTF-8 at byte " +
                             std::to_string(block.offset + static_cast<int64_t>(offset)) + " (" +
                             hex +
                             "); convert the file first, for example with `iconv -f LATIN1 -t "
                             "UTF-8`, or omit it from the inputs");
}

std::string_view WithoutByteOrderMark(const RawBlock& block) {
  std::string_view text = block.bytes;
  if (block.begins_file && text.substr(0, 3) == kByteOrderMark) text.remove_prefix(3);
  return text;
}

void AddStretches(std::string_view text, bool begins, bool ends, std::vector<TextPart>* parts) {
  const std::vector<std::string_view> stretches = CutIntoStretches(text);
  for (size_t i = 0; i < stretches.size(); ++i) {
    parts->push_back(
        {std::string(stretches[i]), begins && i == 0, ends && i + 1 == stretches.size()});
  }
}

absl::Status BadLine(const RawBlock& block, int64_t line, const std::string& what) {
  return absl::DataLossError(block.file->path + ":" + std::to_string(line) + ": " + what);
}

absl::Status DecodeLine(const RawBlock& block, std::string_view text, int64_t line,
                        const std::string& field, std::vector<TextPart>* parts) {
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (object.is_discarded()) return BadLine(block, line, "not valid JSON");
  if (!object.is_object()) return BadLine(block, line, "not a JSON object");
  const auto found = object.find(field);
  if (found == object.end()) {
    return BadLine(block, line,
                   "no field \"" + field +
                       "\"; pass the name of the field that contains the text with --field");
  }
  if (!found->is_string()) return BadLine(block, line, "field \"" + field + "\" is not a string");
  AddStretches(found->get_ref<const std::string&>(), true, true, parts);
  return absl::OkStatus();
}

absl::Status DecodeJsonLines(const RawBlock& block, const std::string& field,
                             std::vector<TextPart>* parts) {
  std::string_view rest = WithoutByteOrderMark(block);
  for (int64_t line = block.first_line; !rest.empty(); ++line) {
    const size_t end = rest.find('\n');
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    TRAINYARD_RETURN_IF_ERROR(DecodeLine(block, text, line, field, parts));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeBlock(const RawBlock& block, const std::string& field, PodTexts& pods,
                         std::vector<TextPart>* parts) {
  if (block.file->kind == InputKind::kPod) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::string text, pods.Text(block.file->path));
    AddStretches(text, true, true, parts);
    return absl::OkStatus();
  }
  if (const std::optional<size_t> offset = FirstInvalidUtf8(block.bytes)) {
    return NotUtf8(block, *offset);
  }
  if (block.file->kind == InputKind::kJsonLines) return DecodeJsonLines(block, field, parts);
  AddStretches(WithoutByteOrderMark(block), block.begins_file, block.ends_file, parts);
  return absl::OkStatus();
}

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
