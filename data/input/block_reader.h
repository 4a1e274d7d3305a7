// Reads files in blocks that threads can process independently.
#ifndef TRAINYARD_DATA_INPUT_BLOCK_READER_H_
#define TRAINYARD_DATA_INPUT_BLOCK_READER_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/input/input_files.h"

namespace trainyard::data {

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

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_BLOCK_READER_H_
