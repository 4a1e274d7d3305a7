#include "data/stages/block_documents.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "data/documents/pod_text.h"
#include "data/documents/text_parts.h"
#include "data/input/block_reader.h"
#include "data/input/parquet_column.h"
#include "data/input/raw_block.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// Bytes of JSON lines that are read at once.
constexpr int64_t kReadBytes = int64_t{1} << 20;

// Makes each file of plain text one part.
TextCuts NoCuts() {
  return {[](std::string_view, size_t, size_t) { return std::string_view::npos; }, 1};
}

DecodeSettings WithoutCuts(DecodeSettings settings) {
  settings.cuts = NoCuts();
  return settings;
}

ReadLimits Limits(const std::string& field) {
  ReadLimits limits;
  limits.field = field;
  limits.block_bytes = kReadBytes;
  limits.cuts = NoCuts();
  return limits;
}

std::string TextObject(const std::string& field, std::string_view text, const std::string& path) {
  nlohmann::ordered_json object = {{field, text}};
  object.emplace("source", path);  // does nothing if `field` is "source"
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

class Reader {
 public:
  Reader(const Plan& plan, const DecodeSettings& settings, const TakeDocument& take,
         const Advance& advance)
      : plan_(plan),
        field_(settings.field),
        take_(take),
        advance_(advance),
        decoder_(WithoutCuts(settings), &pods_) {}

  absl::Status ReadFile(size_t file, int64_t begin, int64_t end) {
    file_ = file;
    lines_.push_back({file, {}});
    const PlanFile& planned = plan_.files()[file];
    TRAINYARD_RETURN_IF_ERROR(ReadPart(planned.input, {begin, end}));
    const BlockLines& lines = lines_.back().lines;
    if (lines.line_ends == 0 && lines.repaired == 0) lines_.pop_back();
    return CheckUnchanged(planned);
  }

  std::vector<FileLines> TakeLines() { return std::move(lines_); }

 private:
  absl::Status ReadPart(const InputFile& file, ByteRange range) {
    if (file.kind == InputKind::kParquet) return ReadRows(file, range);
    if (file.compression != Compression::kNone) return ReadStream(file);
    return ReadRange(file, range.begin, range.end);
  }

  absl::Status ReadRows(const InputFile& file, ByteRange range) {
    TRAINYARD_ASSIGN_OR_RETURN(const auto column, ParquetColumn::Open(file, field_, range));
    for (;;) {
      RawBlock raw;
      raw.file = &file;
      TRAINYARD_RETURN_IF_ERROR(column->NextBlock(&raw));
      TRAINYARD_RETURN_IF_ERROR(LoadBlock(&raw, Limits(field_)));
      TRAINYARD_RETURN_IF_ERROR(Decode(&raw));
      if (raw.page == nullptr) return absl::OkStatus();
    }
  }

  absl::Status ReadStream(const InputFile& file) {
    const std::vector<InputFile> files = {file};
    BlockReader reader(files, Limits(field_));
    for (;;) {
      RawBlock raw;
      TRAINYARD_ASSIGN_OR_RETURN(const bool more, reader.Next(&raw));
      if (!more) return absl::OkStatus();
      TRAINYARD_RETURN_IF_ERROR(Decode(&raw));
    }
  }

  absl::Status ReadRange(const InputFile& file, int64_t begin, int64_t end) {
    // A line begins in exactly one of the ranges.
    const int64_t step = file.kind == InputKind::kJsonLines ? kReadBytes : end - begin;
    do {
      RawBlock raw;
      raw.file = &file;
      raw.range_begin = begin;
      raw.range_end = std::min(begin + step, end);
      raw.begins_file = begin == 0;
      raw.ends_file = raw.range_end == file.bytes;
      begin = raw.range_end;
      TRAINYARD_RETURN_IF_ERROR(LoadBlock(&raw, Limits(field_)));
      TRAINYARD_RETURN_IF_ERROR(Decode(&raw));
    } while (begin < end);
    return absl::OkStatus();
  }

  absl::Status Decode(RawBlock* raw) {
    absl::Status taken;
    TRAINYARD_ASSIGN_OR_RETURN(const BlockLines lines,
                               decoder_.Decode(raw, [&](const TextPart& part) {
                                 if (taken.ok()) taken = Take(part);
                               }));
    TRAINYARD_RETURN_IF_ERROR(taken);
    AddLines(lines);
    return advance_(raw->range_end - raw->range_begin);
  }

  absl::Status Take(const TextPart& part) {
    const InputFile& file = plan_.files()[file_].input;
    const int64_t line = lines_.back().lines.line_ends + part.line;
    if (file.kind == InputKind::kJsonLines) return take_({part.json, part.text, file_, line});
    return take_({TextObject(field_, part.text, file.path), part.text, file_, line});
  }

  void AddLines(const BlockLines& added) {
    BlockLines& lines = lines_.back().lines;
    for (const BadLine& bad : added.bad) {
      if (lines.bad.size() < kBadLinesListed) {
        lines.bad.push_back({bad.line + lines.line_ends, bad.kind, bad.cause});
      } else {
        ++lines.unlisted[static_cast<size_t>(bad.kind)];
      }
    }
    lines.line_ends += added.line_ends;
    lines.lines += added.lines;
    lines.repaired += added.repaired;
  }

  const Plan& plan_;
  const std::string field_;
  const TakeDocument& take_;
  const Advance& advance_;
  PodTexts pods_;
  BlockDecoder decoder_;
  size_t file_ = 0;
  std::vector<FileLines> lines_;
};

}  // namespace

absl::StatusOr<std::vector<FileLines>> ReadDocuments(const Plan& plan, const PlanBlock& block,
                                                     const DecodeSettings& settings,
                                                     const TakeDocument& take,
                                                     const Advance& advance) {
  Reader reader(plan, settings, take, advance);
  for (size_t file = block.first_file; file < block.end_file; ++file) {
    const int64_t begin = file == block.first_file ? block.range_begin : 0;
    const int64_t end =
        file + 1 == block.end_file ? block.range_end : plan.files()[file].input.bytes;
    TRAINYARD_RETURN_IF_ERROR(reader.ReadFile(file, begin, end));
  }
  return reader.TakeLines();
}

}  // namespace trainyard::data
