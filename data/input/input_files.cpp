#include "data/input/input_files.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "data/input/system_error.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

std::optional<InputKind> KindOf(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (extension == ".txt" || extension == ".md" || extension == ".markdown") {
    return InputKind::kText;
  }
  if (extension == ".pod") return InputKind::kPod;
  if (extension == ".jsonl") return InputKind::kJsonLines;
  return std::nullopt;
}

absl::Status AddFile(const fs::path& path, InputKind kind, std::vector<InputFile>* files) {
  std::error_code error;
  const uintmax_t bytes = fs::file_size(path, error);
  if (error) return SystemError(path.string(), error.value());
  files->push_back({path.string(), kind, static_cast<int64_t>(bytes)});
  return absl::OkStatus();
}

absl::Status AddDirectory(const std::string& directory, std::vector<InputFile>* files) {
  const size_t before = files->size();
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;  // For dangling links.
    if (entry->path().filename().string().front() == '.') {
      if (entry->is_directory(ignored)) entry.disable_recursion_pending();
      continue;
    }
    const std::optional<InputKind> kind = KindOf(entry->path());
    if (!kind || entry->is_directory(ignored)) continue;
    TRAINYARD_RETURN_IF_ERROR(AddFile(entry->path(), *kind, files));
  }
  if (error) return SystemError("cannot search " + directory, error.value());
  if (files->size() == before) {
    return absl::InvalidArgumentError(directory + " contains no .txt, .md, .pod or .jsonl file");
  }
  return absl::OkStatus();
}

absl::Status AddInput(const std::string& input, std::vector<InputFile>* files) {
  std::error_code error;
  const fs::file_status status = fs::status(input, error);
  if (!fs::exists(status)) return SystemError(input, error ? error.value() : ENOENT);
  if (fs::is_directory(status)) return AddDirectory(input, files);
  const std::optional<InputKind> kind = KindOf(input);
  if (!kind || !fs::is_regular_file(status)) {
    return absl::InvalidArgumentError(
        input +
        ": unknown file type; inputs are .txt, .md, .pod or .jsonl files, or directories of them");
  }
  return AddFile(input, *kind, files);
}

}  // namespace

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
