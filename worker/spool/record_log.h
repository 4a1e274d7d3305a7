// An append-only file of records that survives a crash at any byte.
#ifndef TRAINYARD_WORKER_SPOOL_RECORD_LOG_H_
#define TRAINYARD_WORKER_SPOOL_RECORD_LOG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"

namespace trainyard::worker {

inline constexpr std::size_t kMaxRecordBytes = 1 << 20;

// A record consists of length (4 bytes), XXH64 of length and payload (8 bytes), and payload;
// numbers are little-endian. There must be only one writer, which uses one thread.
class RecordLog {
 public:
  // Opens or creates the file (mode 0600) and reads its records. An incomplete tail was never
  // durable; it is cut off, and dropped_bytes() returns its size. Intact records after a bad record
  // mean damage: the file is moved away, the log continues with all intact records, and damage()
  // reports this. A path that is not a regular file is also moved away and reported. Errors name
  // the path.
  static absl::StatusOr<std::unique_ptr<RecordLog>> Open(const std::string& path);

  // The records that the file contained when it was opened.
  const std::vector<std::string>& records_at_open() const { return records_at_open_; }
  int64_t dropped_bytes() const { return dropped_bytes_; }
  // One line for the operator, with the names of the files; empty if the file was not damaged.
  const std::string& damage() const { return damage_; }
  int64_t size_bytes() const { return size_bytes_; }

  // If OK is returned, the record is on disk. After an error (full disk) the log is unchanged, and
  // Append may be retried. INVALID_ARGUMENT if the record has more than kMaxRecordBytes.
  absl::Status Append(std::string_view record);

  // Replaces all records in one step. After a crash the file contains either the old or the new
  // records. After an error the log continues with the records that are in the file.
  absl::Status Rewrite(const std::vector<std::string>& records);

 private:
  explicit RecordLog(std::string path) : path_(std::move(path)) {}
  absl::Status OpenForAppend();
  absl::Status RenameIrregular();
  // Writes the records in records_at_open_ to a new file, which replaces the old one. The old file
  // is damaged from byte `sound_bytes` on.
  absl::Status ReplaceDamaged(int64_t sound_bytes);
  // Allocates disk space for future records, so that they can be written to a full disk. Errors are
  // ignored, because some file systems cannot allocate space.
  void ReserveAhead();
  // True if the path leads to a file other than the open file.
  bool WasReplaced() const;

  const std::string path_;
  UniqueFd fd_;
  std::vector<std::string> records_at_open_;
  int64_t dropped_bytes_ = 0;
  std::string damage_;
  // The size of the complete records. After a failed append the file may be longer.
  int64_t size_bytes_ = 0;
  // The offset of the end of the space that is allocated for future records.
  int64_t reserved_until_ = 0;
  // True while a power failure could still undo the rename of a Rewrite.
  bool directory_sync_due_ = false;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_RECORD_LOG_H_
