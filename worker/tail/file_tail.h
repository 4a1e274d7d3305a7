// Reads bytes appended to a file since an offset. The file is the spool and the offset is the
// sequence number, so nothing here keeps state between calls or restarts.
#ifndef TRAINYARD_WORKER_TAIL_FILE_TAIL_H_
#define TRAINYARD_WORKER_TAIL_FILE_TAIL_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/support/guarded_path.h"

namespace trainyard::worker {

inline constexpr std::size_t kMaxReadBytes = 1 << 20;
inline constexpr std::size_t kMaxLineBytes = 64 << 10;

// Bytes [begin_offset, begin_offset + data size) of the file.
struct TailBytes {
  int64_t begin_offset = 0;
  std::string data;
};

enum class LongLines {
  kSkip,   // A line longer than kMaxLineBytes is counted as bad and dropped.
  kSplit,  // Such a line is returned in pieces of kMaxLineBytes.
};

struct LineReadOptions {
  LongLines long_lines = LongLines::kSkip;
  // True once no process writes to the file: an unfinished last line is then returned too.
  bool ended = false;
  // At most kMaxReadBytes, at least kMaxLineBytes + 1.
  std::size_t max_bytes = kMaxReadBytes;
  // Nothing at or after this offset is read.
  int64_t until_offset = std::numeric_limits<int64_t>::max();
};

// The lines in [begin_offset, end_offset), without their line ends ("\n" or "\r\n"). The next read
// begins at end_offset, which equals begin_offset if there is nothing new.
struct TailLines {
  int64_t begin_offset = 0;
  int64_t end_offset = 0;
  std::vector<std::string> lines;
  int bad_lines = 0;
};

// Both return an empty result if there is nothing new or the file does not exist yet. OUT_OF_RANGE
// if the file is shorter than `offset` (truncated, although the contract is append-only),
// FAILED_PRECONDITION if the path is not a regular file, PERMISSION_DENIED or INTERNAL if it cannot
// be read. Thread-safe.
absl::StatusOr<TailBytes> ReadNewBytes(const GuardedPath& path, int64_t offset,
                                       std::size_t max_bytes = kMaxReadBytes);
absl::StatusOr<TailLines> ReadNewLines(const GuardedPath& path, int64_t offset,
                                       const LineReadOptions& options);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_FILE_TAIL_H_
