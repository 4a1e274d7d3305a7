// Manages the disk space of the ranks' output, and chooses the bytes to drop when the disk is full.
//
// A rank's output file only grows, and its offsets are the sequence numbers of the stream. Space is
// therefore freed by punching a hole at the front of the file, which frees blocks but does not
// change offsets. The only state is the offset at which data begins, which the file system records.
// Bytes that the controller has stored are dropped first, without loss. Then unstored bytes are
// dropped, oldest first, and the log reports the loss.
#ifndef TRAINYARD_WORKER_SPOOL_OUTPUT_SPACE_H_
#define TRAINYARD_WORKER_SPOOL_OUTPUT_SPACE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/support/guarded_path.h"

namespace trainyard::worker {

// The number of bytes at the end of a rank's output that are never dropped, because the verdict on
// the attempt includes the last lines.
inline constexpr int64_t kOutputKeptAtEnd = 64 << 10;

struct OutputFile {
  GuardedPath path;
  // The offset at which data begins. Earlier bytes were dropped.
  int64_t first_byte = 0;
  int64_t size = 0;
  // The controller has stored all bytes before this offset.
  int64_t stored = 0;
  // The bytes from this offset on must be kept. For output they are the bytes that the log parser
  // may still read; without a log parser, keep_from is `size`. For telemetry they are the bytes
  // that the controller has not stored, and one byte before them.
  int64_t keep_from = 0;
};

// The bytes [begin, end) of a file, which are to be dropped.
struct Release {
  GuardedPath path;
  int64_t begin = 0;
  int64_t end = 0;
  // The number of bytes in the range that the controller has not stored.
  int64_t lost = 0;
};

// Returns the ranges to drop from `files` (oldest attempt first) in order to free `bytes_to_free`.
// Frees fewer bytes if not enough may be dropped. First, stored bytes of all files are dropped. If
// these are not enough, bytes that the controller has not stored are dropped too, starting with the
// file that has the most such bytes. Ranges consist of complete blocks.
std::vector<Release> PlanRelease(const std::vector<OutputFile>& files, int64_t bytes_to_free);

// Returns the bytes that the file occupies on disk, without its holes; 0 if the file is missing.
// Thread-safe.
int64_t BytesOnDisk(const GuardedPath& path);

// Returns the offset at which data begins in the file; 0 if the file is missing. Thread-safe.
int64_t FirstKeptByte(const GuardedPath& path);

// Frees the file's disk blocks up to the end of the range. UNIMPLEMENTED if the file system cannot
// free a part of a file.
absl::Status DropOutput(const Release& release);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_OUTPUT_SPACE_H_
