// Reads a compressed file in blocks.
#ifndef TRAINYARD_DATA_INPUT_STREAM_READER_H_
#define TRAINYARD_DATA_INPUT_STREAM_READER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/input/decompressor.h"
#include "data/input/input_files.h"
#include "data/input/raw_block.h"

namespace trainyard::data {

// Not thread-safe. Keeps at most document_bytes_max and two blocks in memory.
class StreamReader {
 public:
  // `file` must outlive the reader.
  static absl::StatusOr<std::unique_ptr<StreamReader>> Open(const InputFile& file,
                                                            const ReadLimits& limits);

  // Sets the bytes, the offset and ends_file of the next block, and whether a line was omitted.
  absl::Status Next(RawBlock* block);

  // Number of bytes on disk that have been read.
  int64_t position() const { return source_->position(); }

 private:
  StreamReader(const InputFile& file, const ReadLimits& limits,
               std::unique_ptr<Decompressor> source)
      : file_(file), limits_(limits), source_(std::move(source)) {}

  absl::StatusOr<bool> ReadMore();
  // `searched`: number of bytes at the start of `pending_` that contain no place for a cut.
  size_t BlockEnd(size_t searched) const;
  size_t NextCut(size_t searched) const;
  bool BeginsWithLongLine(size_t searched) const;
  absl::Status OmitLine(RawBlock* block);
  void TakeBytes(size_t count, RawBlock* block);

  const InputFile& file_;
  const ReadLimits limits_;
  const std::unique_ptr<Decompressor> source_;
  std::string pending_;  // decompressed, but not yet in a block
  int64_t offset_ = 0;   // of `pending_`
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_STREAM_READER_H_
