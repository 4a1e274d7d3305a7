// Finds the files that a user named.
#ifndef TRAINYARD_DATA_INPUT_INPUT_FILES_H_
#define TRAINYARD_DATA_INPUT_INPUT_FILES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::data {

enum class InputKind {
  kText,       // .txt, .md, .markdown: one document per file, unchanged
  kPod,        // .pod (Perl's documentation format): one document per file, without its markup
  kJsonLines,  // .jsonl: one document per line
  kParquet,    // .parquet: one document per row
};

enum class Compression {
  kNone,
  kGzip,  // .gz after the ending of the kind
  kZstd,  // .zst after the ending of the kind
};

// True if a file has numbered documents: lines or rows.
inline bool HasLines(InputKind kind) {
  return kind == InputKind::kJsonLines || kind == InputKind::kParquet;
}

struct InputFile {
  std::string path;
  InputKind kind = InputKind::kText;
  int64_t bytes = 0;  // on disk
  Compression compression = Compression::kNone;
};

// plan.json of a directory written by a stage (data/stages) begins with "{" and this text.
inline constexpr char kPlanMark[] = "\"format\": \"trainyard-data-run\"";

// Returns the file with its kind and compression, which follow from the name; nullopt for a name of
// an unsupported kind. Does not read the file.
std::optional<InputFile> InputFileNamed(const std::string& path);

// Searches directories recursively, but ignores names that begin with a dot. In the output
// directory of a stage, only the files part-* are inputs. Returns each file once, sorted by path.
// Returns FailedPrecondition if such a directory is incomplete. Returns NotFound if an input is
// missing. Returns InvalidArgument for a file of an unsupported kind and for a directory without
// input files.
absl::StatusOr<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& inputs);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_INPUT_FILES_H_
