#include "data/input/input_files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "data/input/system_error.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

struct FileType {
  InputKind kind = InputKind::kText;
  Compression compression = Compression::kNone;
};

// Returns the ending of a file name in lower case, with its dot.
std::string EndingOf(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return ending;
}

std::optional<InputKind> KindOf(const std::string& ending) {
  if (ending == ".txt" || ending == ".md" || ending == ".markdown") return InputKind::kText;
  if (ending == ".pod") return InputKind::kPod;
  if (ending == ".jsonl") return InputKind::kJsonLines;
  if (ending == ".parquet") return InputKind::kParquet;
  return std::nullopt;
}

// Returns the type of "name.jsonl" and "name.jsonl.gz"; nullopt for every other ending.
std::optional<FileType> TypeOf(const fs::path& path) {
  const std::string ending = EndingOf(path);
  Compression compression = Compression::kNone;
  if (ending == ".gz") compression = Compression::kGzip;
  if (ending == ".zst") compression = Compression::kZstd;
  const std::optional<InputKind> kind =
      KindOf(compression == Compression::kNone ? ending : EndingOf(path.stem()));
  // The pages of Parquet files are compressed, not the files.
  const bool is_packed_parquet = kind == InputKind::kParquet && compression != Compression::kNone;
  if (!kind || is_packed_parquet) return std::nullopt;
  return FileType{*kind, compression};
}

absl::Status AddFile(const fs::path& path, FileType type, std::vector<InputFile>* files) {
  std::error_code error;
  const uintmax_t bytes = fs::file_size(path, error);
  if (error) return SystemError(path.string(), error.value());
  files->push_back({path.string(), type.kind, static_cast<int64_t>(bytes), type.compression});
  return absl::OkStatus();
}

// Recognizes the output directories of stages, which also contain dropped documents and reports.
class StageDirectories {
 public:
  // True if `path` is a file of a stage's directory but not one of its kept documents. Returns
  // FailedPrecondition if the stage has not finished.
  absl::StatusOr<bool> Excludes(const fs::path& path) {
    const fs::path directory = path.parent_path();
    const auto [known, is_new] = is_stage_.try_emplace(directory, false);
    if (is_new) known->second = HasPlan(directory);
    if (!known->second) return false;
    std::error_code error;
    if (!fs::exists(directory / "report.json", error)) {
      return absl::FailedPreconditionError(directory.string() +
                                           " is incomplete; repeat the command that writes it, "
                                           "which then continues");
    }
    return path.filename().string().rfind("part-", 0) != 0;
  }

 private:
  static bool HasPlan(const fs::path& directory) {
    const std::string mark = std::string("{") + kPlanMark;
    std::ifstream file(directory / "plan.json", std::ios::binary);
    std::string start(mark.size(), '\0');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    return file && start == mark;
  }

  std::map<fs::path, bool> is_stage_;
};

absl::Status AddDirectory(const std::string& directory, std::vector<InputFile>* files) {
  const size_t before = files->size();
  StageDirectories stages;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;  // For dangling links.
    if (entry->path().filename().string().front() == '.') {
      if (entry->is_directory(ignored)) entry.disable_recursion_pending();
      continue;
    }
    const std::optional<FileType> type = TypeOf(entry->path());
    if (!type || entry->is_directory(ignored)) continue;
    TRAINYARD_ASSIGN_OR_RETURN(const bool excluded, stages.Excludes(entry->path()));
    if (excluded) continue;
    TRAINYARD_RETURN_IF_ERROR(AddFile(entry->path(), *type, files));
  }
  if (error) return SystemError("cannot search " + directory, error.value());
  if (files->size() == before) {
    return absl::InvalidArgumentError(directory +
                                      " contains no .txt, .md, .pod, .jsonl or .parquet file");
  }
  return absl::OkStatus();
}

absl::Status UnknownType(const std::string& input) {
  if (EndingOf(input) == ".json") {
    return absl::InvalidArgumentError(
        input +
        ": .json files are not read, because one document may be the whole file; write one "
        "object per line, for example with `jq -c '.[]' FILE.json > FILE.jsonl`");
  }
  return absl::InvalidArgumentError(
      input +
      ": unknown file type; inputs are .txt, .md, .pod or .jsonl files, also with .gz or "
      ".zst, .parquet files, or directories of them");
}

absl::Status AddInput(const std::string& input, std::vector<InputFile>* files) {
  std::error_code error;
  const fs::file_status status = fs::status(input, error);
  if (!fs::exists(status)) return SystemError(input, error ? error.value() : ENOENT);
  if (fs::is_directory(status)) return AddDirectory(input, files);
  const std::optional<FileType> type = TypeOf(input);
  if (!type || !fs::is_regular_file(status)) {
    return UnknownType(input);
  }
  return AddFile(input, *type, files);
}

}  // namespace

std::optional<InputFile> InputFileNamed(const std::string& path) {
  const std::optional<FileType> type = TypeOf(path);
  if (!type) return std::nullopt;
  return InputFile{path, type->kind, 0, type->compression};
}

absl::StatusOr<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& inputs) {
  std::vector<InputFile> files;
  for (const std::string& input : inputs) TRAINYARD_RETURN_IF_ERROR(AddInput(input, &files));
  std::sort(files.begin(), files.end(),
            [](const InputFile& a, const InputFile& b) { return a.path < b.path; });
  std::set<fs::path> seen;
  std::vector<InputFile> once;
  for (InputFile& file : files) {
    std::error_code error;
    if (seen.insert(fs::canonical(file.path, error)).second) once.push_back(std::move(file));
  }
  return once;
}

}  // namespace trainyard::data
