#include "data/documents/block_decoder.h"

#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "data/documents/utf8_repair.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

absl::Status NotUtf8(const RawBlock& block, size_t offset) {
  const unsigned char byte = static_cast<unsigned char>(block.bytes[offset]);
  char hex[8];
  std::snprintf(hex, sizeof(hex), "0x%02x", byte);
  return absl::DataLossError(block.file->path + ": not UTF-8 at byte " +
                             std::to_string(block.offset + static_cast<int64_t>(offset)) + " (" +
                             hex +
                             "); convert the file first, for example with `iconv -f LATIN1 -t "
                             "UTF-8`, pass --utf8 replace, or omit the file from the inputs");
}

std::string_view WithoutByteOrderMark(const RawBlock& block) {
  std::string_view text = block.bytes;
  if (block.begins_file && text.substr(0, 3) == kByteOrderMark) text.remove_prefix(3);
  return text;
}

}  // namespace

void BlockDecoder::TakeStretches(const BlockText& text, const Take& take) const {
  if (text.begins_document && text.ends_document && text.text.size() <= settings_.whole_bytes) {
    take({text.text, true, true, {}, 0, text.offset});
    return;
  }
  const std::vector<std::string_view> stretches = CutIntoStretches(text.text, settings_.cuts);
  for (size_t i = 0; i < stretches.size(); ++i) {
    const int64_t before = text.is_repaired ? 0 : stretches[i].data() - text.text.data();
    take({stretches[i],
          text.begins_document && i == 0,
          text.ends_document && i + 1 == stretches.size(),
          {},
          0,
          text.offset + before});
  }
}

absl::StatusOr<BlockLines> BlockDecoder::Decode(RawBlock* block, const Take& take) {
  if (block->file->kind == InputKind::kPod) return DecodePod(*block, take);
  if (block->file->kind == InputKind::kText) return DecodeText(*block, take);
  if (block->file->kind == InputKind::kParquet) return DecodeRows(*block, take);
  return DecodeJsonLines(block, take);
}

absl::StatusOr<BlockLines> BlockDecoder::DecodePod(const RawBlock& block, const Take& take) const {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, pods_.Text(block.file->path, block.bytes));
  TakeStretches({text, true, true}, take);
  return BlockLines();
}

absl::StatusOr<BlockLines> BlockDecoder::DecodeText(const RawBlock& block, const Take& take) const {
  BlockText text = {WithoutByteOrderMark(block), block.begins_file, block.ends_file, block.offset};
  BlockLines lines;
  if (IsValidUtf8(text.text)) {
    text.offset += text.text.data() - block.bytes.data();
    TakeStretches(text, take);
    return lines;
  }
  if (!settings_.repair_utf8) {
    return NotUtf8(block, FirstInvalidUtf8(block.bytes).value_or(0));
  }
  lines.repaired = 1;
  const std::string repaired = RepairUtf8(text.text);
  text.text = repaired;
  text.is_repaired = true;
  TakeStretches(text, take);
  return lines;
}

BlockLines BlockDecoder::DecodeJsonLines(RawBlock* block, const Take& take) {
  block->bytes.reserve(block->bytes.size() + kBlockPadding);
  BlockLines lines;
  std::string_view rest = WithoutByteOrderMark(*block);
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const int64_t number = lines.line_ends++;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ++lines.lines;
    LineText parsed = ParseLine(&line, &lines);
    if (parsed.bad) {
      parsed.bad->line = number;
      lines.bad.push_back(*std::move(parsed.bad));
    } else {
      take({parsed.text, true, true, line, number});
    }
  }
  if (block->omitted_line) {
    ++lines.lines;
    lines.bad.push_back({lines.line_ends++, BadLineKind::kTooLong, "longer than 256 MiB"});
  }
  return lines;
}

BlockLines BlockDecoder::DecodeRows(const RawBlock& block, const Take& take) {
  BlockLines lines;
  if (block.rows == nullptr) return lines;  // the last block of a file
  for (const std::optional<std::string_view>& value : block.rows->values) {
    const int64_t number = lines.line_ends++;
    ++lines.lines;
    if (take_field_) take_field_(settings_.field, value ? JsonType::kString : JsonType::kNull);
    const std::optional<std::string_view> text = RowText(value, number, &lines);
    if (text) take({*text, true, true, {}, number});
  }
  return lines;
}

std::optional<std::string_view> BlockDecoder::RowText(std::optional<std::string_view> value,
                                                      int64_t number, BlockLines* lines) {
  if (!value) {
    lines->bad.push_back(
        {number, BadLineKind::kFieldNull, "column \"" + settings_.field + "\" is null"});
    return std::nullopt;
  }
  if (IsValidUtf8(*value)) return value;
  if (!settings_.repair_utf8) {
    const size_t offset = FirstInvalidUtf8(*value).value_or(0);
    lines->bad.push_back({number, BadLineKind::kNotUtf8,
                          "not UTF-8 at byte " + std::to_string(offset) +
                              " of the text; pass --utf8 replace to replace such bytes by U+FFFD"});
    return std::nullopt;
  }
  repaired_ = RepairUtf8(*value);
  ++lines->repaired;
  return repaired_;
}

LineText BlockDecoder::ParseLine(std::string_view* line, BlockLines* lines) {
  LineText parsed = parser_.Parse(*line);
  const bool not_utf8 = parsed.bad && parsed.bad->kind == BadLineKind::kNotUtf8;
  if (!not_utf8 || !settings_.repair_utf8) return parsed;
  repaired_ = RepairUtf8(*line);
  repaired_.reserve(repaired_.size() + kBlockPadding);
  ++lines->repaired;
  *line = repaired_;
  return parser_.Parse(repaired_);
}

}  // namespace trainyard::data
