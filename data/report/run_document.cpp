#include "data/report/run_document.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "data/report/block_scan.h"
#include "data/report/source_entries.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

// Chains of runs are short. The limit ends cycles, which only changed directories can form.
constexpr int kOriginsMax = 100;

constexpr char kKeptPrefix[] = "kept:";
constexpr char kDroppedPrefix[] = "dropped:";

std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

int64_t KeptIn(const BlockRecord& record) { return record.counts.documents_out; }
int64_t DroppedIn(const BlockRecord& record) {
  return record.counts.documents_in - record.counts.documents_out;
}

bool IsDropped(const BlockRecord& record, int64_t index) {
  const std::vector<bool>& bits = record.counts.is_dropped;
  return !bits.empty() && bits[static_cast<size_t>(index)];
}

absl::Status Damaged(const StoredRun& run) {
  return absl::DataLossError(run.directory +
                             "/records.log is damaged; repeat the command that wrote it with "
                             "--force");
}

// Number of kept or dropped documents in the blocks before `block`.
int64_t CountBefore(const StoredRun& run, size_t block, bool dropped) {
  int64_t count = 0;
  for (const auto& [number, record] : run.records) {
    if (number < block) count += dropped ? DroppedIn(record) : KeptIn(record);
  }
  return count;
}

// Sets the index of a document whose block and rank are set.
absl::StatusOr<RunDocument> AtRank(const StoredRun& run, RunDocument document) {
  const BlockRecord& record = run.records.at(document.block);
  int64_t rank = 0;
  for (int64_t index = 0; index < record.counts.documents_in; ++index) {
    if (IsDropped(record, index) != document.is_dropped) continue;
    if (rank++ != document.rank) continue;
    document.index = index;
    document.number = CountBefore(run, document.block, document.is_dropped) + document.rank + 1;
    return document;
  }
  return Damaged(run);
}

// Sets the rank of a document whose block and index are set.
absl::StatusOr<RunDocument> AtIndex(const StoredRun& run, RunDocument document) {
  const BlockRecord& record = run.records.at(document.block);
  if (document.index >= record.counts.documents_in) return Damaged(run);
  document.is_dropped = IsDropped(record, document.index);
  for (int64_t index = 0; index < document.index; ++index) {
    if (IsDropped(record, index) == document.is_dropped) ++document.rank;
  }
  document.number = CountBefore(run, document.block, document.is_dropped) + document.rank + 1;
  return document;
}

absl::StatusOr<RunDocument> FindNumber(const StoredRun& run, bool dropped, int64_t number) {
  int64_t before = 0;
  for (const auto& [block, record] : run.records) {
    const int64_t count = dropped ? DroppedIn(record) : KeptIn(record);
    if (number <= before + count) {
      return AtRank(run, {block, dropped, 0, number - before - 1, number});
    }
    before += count;
  }
  return absl::NotFoundError(run.directory + " has " + std::to_string(before) +
                             (dropped ? " dropped" : " kept") + " documents");
}

const PartFile* PartOf(const BlockRecord& record, const char* stream) {
  for (const PartFile& part : record.parts) {
    if (part.name.starts_with(std::string(stream) + "-")) return &part;
  }
  return nullptr;
}

// A line of one of the run's own parts.
absl::StatusOr<RunDocument> FindInPart(const StoredRun& run, const std::string& name,
                                       int64_t line) {
  for (const auto& [block, record] : run.records) {
    for (const PartFile& part : record.parts) {
      if (part.name != name) continue;
      const bool dropped = name.starts_with("dropped-");
      const int64_t count = dropped ? DroppedIn(record) : KeptIn(record);
      if (line < count) return AtRank(run, {block, dropped, 0, line, 0});
      return absl::NotFoundError(name + " has " + std::to_string(count) + " documents");
    }
  }
  return absl::NotFoundError(run.directory + " has no part " + name);
}

int64_t LineEndsOf(const BlockRecord& record, size_t file) {
  for (const FileLines& lines : record.lines) {
    if (lines.file == file) return lines.lines.line_ends;
  }
  return 0;
}

absl::StatusOr<RunDocument> FindInInput(const StoredRun& run, const std::string& path,
                                        int64_t line) {
  const std::vector<PlanBlock>& blocks = run.plan.blocks();
  std::optional<size_t> block;  // the last one that begins at or before the line
  size_t file = 0;
  int64_t lines = 0;  // line ends of the file in earlier blocks
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto record = run.records.find(i);
    for (size_t f = blocks[i].first_file; f < blocks[i].end_file; ++f) {
      if (run.plan.files()[f].input.path != path) continue;
      if (record == run.records.end() || lines > line) break;
      block = i;
      file = f;
      lines += LineEndsOf(record->second, f);
    }
  }
  if (!block) {
    return absl::NotFoundError(path + " is not an input of the finished blocks of " +
                               run.directory +
                               "; name a file as the report does, or a number of a document");
  }
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t index, IndexInInput(run, *block, {file, line}));
  return AtIndex(run, {*block, false, index, 0, 0});
}

absl::StatusOr<RunDocument> FindPlace(const StoredRun& run, const std::string& file, int64_t line) {
  const fs::path path = AbsoluteBelow(run.plan.working_directory(), file);
  std::error_code error;
  const std::string absolute = fs::absolute(path, error).lexically_normal().string();
  if (fs::path(absolute).parent_path() == run.directory) {
    return FindInPart(run, fs::path(absolute).filename().string(), line);
  }
  return FindInInput(run, absolute, line);
}

// A document in the output of a run.
struct WrittenDocument {
  std::unique_ptr<StoredRun> run;
  RunDocument document;
};

// Returns nullopt if no run wrote the file, or if the document cannot be found. Then states the
// problem.
std::optional<WrittenDocument> FindWriter(const InputLine& line, std::string* problem) {
  const fs::path path = line.file;
  const std::string directory = path.parent_path().string();
  if (!IsRunDirectory(directory)) return std::nullopt;
  absl::StatusOr<StoredRun> run = ReadRun(directory);
  if (!run.ok()) return std::nullopt;
  if (!line.plan.empty() && line.plan != run->plan_hash) {
    *problem = directory + " was written by another run (plan " + line.plan +
               ") when the document was read; its present documents may be others";
    return std::nullopt;
  }
  const auto found = FindInPart(*run, path.filename().string(), line.line);
  if (!found.ok()) {
    *problem = std::string(found.status().message());
    return std::nullopt;
  }
  return WrittenDocument{std::make_unique<StoredRun>(*std::move(run)), *found};
}

// Returns the hash of the run that had written the directory of an input; "" if none had.
std::string PlanOfInput(const StoredRun& run, const fs::path& file) {
  for (const Plan::Run& input : run.plan.runs()) {
    const std::string directory = AbsoluteBelow(run.plan.working_directory(), input.directory);
    if (directory == file.parent_path()) return input.plan;
  }
  return "";
}

// Adds the places of the document in the inputs of the run and of earlier runs.
void AddOrigins(const StoredRun& run, const RunDocument& document, DocumentOrigins* result) {
  const StoredRun* current = &run;
  std::optional<WrittenDocument> earlier;
  RunDocument at = document;
  while (result->origins.size() < kOriginsMax) {
    const auto place = PlaceInInput(*current, at.block, at.index);
    if (!place.ok()) {
      result->problem = std::string(place.status().message());
      return;
    }
    const InputFile& file = current->plan.files()[place->file].input;
    const std::string number =
        HasLines(file.kind) ? ":" + std::to_string(place->line + 1) : std::string();
    result->origins.push_back({current->stage, file.path + number});
    earlier =
        FindWriter({file.path, place->line, PlanOfInput(*current, file.path)}, &result->problem);
    if (!earlier) return;
    current = earlier->run.get();
    at = earlier->document;
  }
}

}  // namespace

absl::StatusOr<RunDocument> FindRunDocument(const StoredRun& run, const std::string& name) {
  if (const auto number = NumberOf(name)) return FindNumber(run, false, *number);
  for (const char* prefix : {kKeptPrefix, kDroppedPrefix}) {
    if (!name.starts_with(prefix)) continue;
    const auto number = NumberOf(std::string_view(name).substr(std::string_view(prefix).size()));
    if (number) return FindNumber(run, prefix == kDroppedPrefix, *number);
  }
  const size_t colon = name.rfind(':');
  if (colon != std::string::npos && colon > 0) {
    const auto line = NumberOf(std::string_view(name).substr(colon + 1));
    if (line) return FindPlace(run, name.substr(0, colon), *line - 1);
  }
  if (!name.empty()) return FindPlace(run, name, 0);
  return absl::InvalidArgumentError("name a document: N, dropped:N or FILE:LINE");
}

absl::StatusOr<std::string> ReadOutputLine(const StoredRun& run, const RunDocument& document) {
  const PartFile* part =
      PartOf(run.records.at(document.block), document.is_dropped ? "dropped" : "part");
  if (part == nullptr) return Damaged(run);
  return ReadLine(run.directory + "/" + part->name, document.rank);
}

DocumentOrigins OriginsOf(const StoredRun& run, const RunDocument& document) {
  DocumentOrigins result;
  AddOrigins(run, document, &result);
  return result;
}

DocumentOrigins OriginsOfLine(const DocumentOrigin& origin, const InputLine& line) {
  DocumentOrigins result;
  result.origins.push_back(origin);
  const std::optional<WrittenDocument> writer = FindWriter(line, &result.problem);
  if (writer) AddOrigins(*writer->run, writer->document, &result);
  return result;
}

}  // namespace trainyard::data
