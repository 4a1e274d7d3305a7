// Reads the bytes that were appended to a file after an offset. No state is kept between calls or
// restarts: the file itself buffers the data, and the offset is the sequence number.
#ifndef TRAINYARD_WORKER_TAIL_FILE_TAIL_H_
#define TRAINYARD_WORKER_TAIL_FILE_TAIL_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/contract/limits.h"
#include "proto/support/guarded_path.h"

namespace trainyard::worker {

inline constexpr std::size_t kMaxReadBytes = 1 << 20;

// The bytes [begin_offset, begin_offset + data size) of the file.
struct TailBytes {
  int64_t begin_offset = 0;
  std::string data;
};

enum class LongLines {
  kSkip,   // Drops a line longer than kMaxLineBytes and counts it as bad.
  kSplit,  // Returns such a line in pieces of kMaxLineBytes.
};

struct LineReadOptions {
  LongLines long_lines = LongLines::kSkip;
  // True if a carriage return ends a line too. Progress bars rewrite a line for hours without a
  // line end.
  bool returns_end_lines = false;
  // True if no process writes to the file any longer. An unfinished last line is then returned too.
  bool ended = false;
  // The maximum number of bytes to read. Values are limited to the range from kMaxLineBytes + 1 to
  // kMaxReadBytes.
  std::size_t max_bytes = kMaxReadBytes;
  // No byte at or after this offset is read.
  int64_t until_offset = std::numeric_limits<int64_t>::max();
};

// The lines in [begin_offset, end_offset), without their line ends ("\n", "\r\n" or, with
// returns_end_lines, "\r"). The next read must begin at end_offset. If there is nothing new,
// end_offset equals begin_offset.
struct TailLines {
  int64_t begin_offset = 0;
  int64_t end_offset = 0;
  std::vector<std::string> lines;
  int bad_lines = 0;
};

// ReadNewBytes and ReadNewLines return an empty result if there is nothing new or the file does not
// exist yet. OUT_OF_RANGE: the file is shorter than `offset`, so it was truncated although programs
// may only append to it. FAILED_PRECONDITION: the path is not a regular file. PERMISSION_DENIED or
// INTERNAL: the file cannot be read. Thread-safe.
absl::StatusOr<TailBytes> ReadNewBytes(const GuardedPath& path, int64_t offset,
                                       std::size_t max_bytes = kMaxReadBytes);
absl::StatusOr<TailLines> ReadNewLines(const GuardedPath& path, int64_t offset,
                                       const LineReadOptions& options);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_FILE_TAIL_H_
