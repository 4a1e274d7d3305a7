// Divides files into blocks that threads can load and process independently.
#ifndef TRAINYARD_DATA_INPUT_BLOCK_READER_H_
#define TRAINYARD_DATA_INPUT_BLOCK_READER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/input/input_files.h"
#include "data/input/parquet_column.h"
#include "data/input/raw_block.h"
#include "data/input/stream_reader.h"

namespace trainyard::data {

// Not thread-safe.
class BlockReader {
 public:
  // `files` must outlive this reader.
  explicit BlockReader(const std::vector<InputFile>& files, ReadLimits limits = {})
      : files_(files), limits_(limits) {}

  // Returns the next block, or false at the end of the last file. An empty file gives one empty
  // block. Blocks of compressed files are loaded; LoadBlock loads the others. Errors are those of
  // LoadBlock and ParquetColumn.
  absl::StatusOr<bool> Next(RawBlock* block);

 private:
  absl::Status NextOfStream(RawBlock* block);
  absl::Status NextOfParquet(RawBlock* block);
  void NextOfPlainFile(RawBlock* block);

  const std::vector<InputFile>& files_;
  const ReadLimits limits_;
  size_t file_ = 0;       // index of the current file
  int64_t position_ = 0;  // end of the last block's range
  std::unique_ptr<StreamReader> stream_;
  std::unique_ptr<ParquetColumn> column_;
};

// Reads the bytes of a block, unless they are loaded. Thread-safe for different blocks. All errors
// name the file. Returns NotFound or PermissionDenied if the file cannot be opened. Returns
// DataLoss if it cannot be read, is damaged, is UTF-16, has changed its size since it was found,
// is a .pod file longer than the limit, or has too much text without a cut.
absl::Status LoadBlock(RawBlock* block, const ReadLimits& limits = {});

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_BLOCK_READER_H_
