// Disk space of the ranks' output, and the choice of the bytes to drop when the disk is full.
//
// A rank's output file only grows, and its offsets are the sequence numbers of the stream. Space is
// therefore freed by punching a hole at the front of the file: the blocks are freed, and the
// offsets do not change. The only state is the offset at which data begins, which the file system
// keeps. Bytes stored by the controller are dropped first, without loss. Then the oldest other
// bytes are dropped, and the log reports it.
#ifndef TRAINYARD_WORKER_SPOOL_OUTPUT_SPACE_H_
#define TRAINYARD_WORKER_SPOOL_OUTPUT_SPACE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/support/guarded_path.h"

namespace trainyard::worker {

// Bytes at the end of a rank's output that are never dropped: the last lines are part of the
// verdict.
inline constexpr int64_t kOutputKeptAtEnd = 64 << 10;

struct OutputFile {
  GuardedPath path;
  // Offset at which data begins: earlier bytes were dropped.
  int64_t first_byte = 0;
  int64_t size = 0;
  // The controller has stored the bytes before this offset.
  int64_t stored = 0;
  // Bytes from this offset on must be kept, because the log parser has not read metrics from them
  // yet. Equals `size` without a log parser.
  int64_t keep_from = 0;
};

// Bytes [begin, end) of a file to drop.
struct Release {
  GuardedPath path;
  int64_t begin = 0;
  int64_t end = 0;
  // Number of these bytes that the controller has not stored.
  int64_t lost = 0;
};

// Ranges to drop from `files` (oldest attempt first) to free `bytes_to_free`, or less if there is
// not enough. Stored bytes of all files are dropped before any byte is lost. Then the file with the
// most bytes not yet stored loses first. Whole blocks only.
std::vector<Release> PlanRelease(const std::vector<OutputFile>& files, int64_t bytes_to_free);

// Bytes that the file occupies on disk, without its holes; 0 for a missing file. Thread-safe.
int64_t BytesOnDisk(const GuardedPath& path);

// Offset at which data begins in the file; 0 for a missing file. Thread-safe.
int64_t FirstKeptByte(const GuardedPath& path);

// Frees the file's disk blocks up to the end of the range. UNIMPLEMENTED if the file system cannot
// free a part of a file.
absl::Status DropOutput(const Release& release);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_OUTPUT_SPACE_H_
