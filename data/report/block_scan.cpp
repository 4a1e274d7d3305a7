#include "data/report/block_scan.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "data/input/block_reader.h"
#include "data/input/input_files.h"
#include "data/stages/block_documents.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

DecodeSettings DecodeSettingsOf(const Plan& plan) {
  DecodeSettings settings;
  settings.field = plan.settings().value("field", "text");
  settings.repair_utf8 = plan.settings().value("utf8", "") == "replace";
  return settings;
}

// Calls `take` for the documents of the block, with their indices, until it returns false.
absl::Status ScanBlock(const StoredRun& run, size_t block,
                       const std::function<bool(int64_t, const Document&)>& take) {
  int64_t index = 0;
  bool is_found = false;
  const absl::Status status = ReadDocuments(
                                  run.plan, run.plan.blocks()[block], DecodeSettingsOf(run.plan),
                                  [&](const Document& document) {
                                    if (is_found || take(index++, document))
                                      return absl::OkStatus();
                                    is_found = true;
                                    return absl::CancelledError("found");
                                  },
                                  [](int64_t) { return absl::OkStatus(); })
                                  .status();
  return is_found ? absl::OkStatus() : status;
}

}  // namespace

int64_t LinesBefore(const StoredRun& run, size_t block) {
  // Only a block of one file can begin within a file.
  const PlanBlock& wanted = run.plan.blocks()[block];
  if (wanted.range_begin == 0) return 0;
  int64_t lines = 0;
  for (const auto& [number, record] : run.records) {
    if (number >= block) break;
    for (const FileLines& file : record.lines) {
      if (file.file == wanted.first_file) lines += file.lines.line_ends;
    }
  }
  return lines;
}

absl::StatusOr<InputPlace> PlaceInInput(const StoredRun& run, size_t block, int64_t index) {
  std::optional<InputPlace> place;
  TRAINYARD_RETURN_IF_ERROR(ScanBlock(run, block, [&](int64_t at, const Document& document) {
    if (at == index) place = InputPlace{document.file, document.line + LinesBefore(run, block)};
    return !place.has_value();
  }));
  if (place) return *place;
  return absl::NotFoundError("an input of " + run.directory + " has fewer documents than before");
}

absl::StatusOr<int64_t> IndexInInput(const StoredRun& run, size_t block, const InputPlace& place) {
  std::optional<int64_t> index;
  const int64_t line = place.line - LinesBefore(run, block);
  TRAINYARD_RETURN_IF_ERROR(ScanBlock(run, block, [&](int64_t at, const Document& document) {
    if (document.file == place.file && document.line == line) index = at;
    return !index.has_value();
  }));
  if (index) return *index;
  return absl::NotFoundError(run.plan.files()[place.file].input.path + " has no document in line " +
                             std::to_string(place.line + 1) +
                             "; the line is blank, bad or behind the end of the file");
}

absl::StatusOr<std::string> ReadLine(const std::string& path, int64_t line) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> files, FindInputFiles({path}));
  BlockReader reader(files);
  int64_t before = 0;  // lines in earlier blocks
  for (RawBlock block;; block = RawBlock()) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool more, reader.Next(&block));
    if (!more) break;
    TRAINYARD_RETURN_IF_ERROR(LoadBlock(&block));
    std::string_view rest = block.bytes;
    for (; !rest.empty(); ++before) {
      const size_t end = rest.find('\n');
      if (before == line) return std::string(rest.substr(0, end));
      rest.remove_prefix(std::min(rest.size(), end == rest.npos ? rest.size() : end + 1));
    }
  }
  return absl::DataLossError(path + " has " + std::to_string(before) +
                             " lines instead of more than " + std::to_string(line) +
                             "; repeat the command that wrote it with --force");
}

}  // namespace trainyard::data
