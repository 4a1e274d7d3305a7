// Scratch files with checksums.
#ifndef TRAINYARD_DATA_DEDUP_SPILL_FILE_H_
#define TRAINYARD_DATA_DEDUP_SPILL_FILE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"

namespace trainyard::data {

// A scratch file that is written from start to end, then read as often as needed by the process
// that wrote it. Length and checksums are kept in memory. Its contents are records of a fixed
// size. Up to 64 KiB stay in memory without a file. Not thread-safe, except Read.
class SpillFile {
 public:
  SpillFile(std::string path, size_t record_bytes);

  // `record` must have record_bytes. Returns an error if the file must be created and exists.
  absl::Status Append(std::string_view record);
  // Writes the rest of the buffer and closes the file, if there is one.
  absl::Status Finish();

  // Passes the records to `take` in the order in which they were written, many at a time. Returns
  // DataLoss if the file is cut or damaged, before it passes a damaged record. Call Finish first.
  absl::Status Read(const std::function<void(std::string_view records)>& take) const;
  // Deletes the file and the records.
  void Remove();

  uint64_t records() const { return records_; }

 private:
  absl::Status Flush();

  const std::string path_;
  const size_t record_bytes_;
  const size_t block_bytes_;
  UniqueFd file_;  // created by the first Flush, closed by Finish
  std::string buffer_;
  uint64_t records_ = 0;
  std::vector<uint64_t> block_hashes_;  // XXH64; every block but the last has block_bytes_
};

// A scratch file of pieces of any size, which are read in any order. Each piece is followed by its
// XXH64. Not thread-safe while pieces are added; afterwards ReadAt is.
class PieceFile {
 public:
  static absl::StatusOr<std::unique_ptr<PieceFile>> Create(const std::string& path);

  // Appends a piece. Its position is the value of bytes() before the call.
  absl::Status Append(std::string_view piece);
  // Writes the rest of the buffer.
  absl::Status Finish();

  // Sets `piece` to the piece of `size` bytes at `position`. Returns DataLoss if the file is cut or
  // damaged there.
  absl::Status ReadAt(uint64_t position, size_t size, std::string* piece) const;

  uint64_t bytes() const { return bytes_; }
  static constexpr size_t kChecksumBytes = sizeof(uint64_t);

 private:
  PieceFile(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  const std::string path_;
  UniqueFd file_;
  std::string buffer_;
  uint64_t bytes_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_SPILL_FILE_H_
