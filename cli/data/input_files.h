// Finds the files that a user named, and reads them in blocks that threads can process
// independently.
#ifndef TRAINYARD_CLI_DATA_INPUT_FILES_H_
#define TRAINYARD_CLI_DATA_INPUT_FILES_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::cli {

enum class InputKind {
  kText,       // .txt, .md, .markdown: one document per file, unchanged
  kPod,        // .pod (Perl's documentation format): one document per file, without its markup
  kJsonLines,  // .jsonl: one document per line
};

struct InputFile {
  std::string path;
  InputKind kind = InputKind::kText;
  int64_t bytes = 0;
};

// Searches directories recursively, but ignores names that begin with a dot. Returns each file
// once, sorted by path. Returns NotFound if an input is missing. Returns InvalidArgument for a file
// of an unsupported kind and for a directory without input files.
absl::StatusOr<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& inputs);

// A part of a file, usually 1 to 2 MiB. It ends at a line end or at the end of the file. Plain text
// without a line end in 2 MiB is cut between two characters. A JSON line is never cut. A .pod file
// is always one block.
struct RawBlock {
  const InputFile* file = nullptr;
  int64_t offset = 0;      // in the file
  int64_t first_line = 1;  // number of the line at `offset`
  std::string bytes;
  bool begins_file = false;
  bool ends_file = false;
};

// Reads the files one after another. Not thread-safe.
class BlockReader {
 public:
  // `files` must outlive this reader.
  explicit BlockReader(const std::vector<InputFile>& files) : files_(files) {}
  ~BlockReader();
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  // Reads the next block. Returns false at the end of the last file. An empty file gives one empty
  // block. All errors name the file. Returns NotFound or PermissionDenied if the file cannot be
  // opened.
  // Returns DataLoss if it cannot be read, or if a line or a .pod file is longer than 256 MiB.
  absl::StatusOr<bool> Next(RawBlock* block);

 private:
  absl::Status Open();
  absl::StatusOr<bool> ReadMore(RawBlock* block);
  absl::Status Fill(RawBlock* block);

  const std::vector<InputFile>& files_;
  size_t next_file_ = 0;  // index of the file after the open file
  std::FILE* open_ = nullptr;
  std::string carry_;  // bytes read but not yet in a block
  int64_t offset_ = 0;
  int64_t line_ = 1;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_INPUT_FILES_H_
