// A stored section of one rank's output.
#ifndef TRAINYARD_CONTROLLER_STORE_LOGS_LOG_SEGMENT_H_
#define TRAINYARD_CONTROLLER_STORE_LOGS_LOG_SEGMENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// A line longer than this limit is split into parts. No split is inside a UTF-8 character, so a
// part may be up to three bytes longer than the limit.
inline constexpr int64_t kLineBytesMax = 64 * 1024;

// Bytes starting at `begin`, with all data that a reader needs to split them into lines without
// reading earlier bytes.
struct LogSegment {
  // The bytes from `offset` to the next mark were read at `time_ms`.
  struct Mark {
    int64_t offset = 0;
    int64_t time_ms = 0;

    bool operator==(const Mark&) const = default;
  };

  int64_t begin = 0;
  std::string bytes;
  // By ascending offset; the first mark is at `begin`.
  std::vector<Mark> marks;
  // The offsets at which a new part of a long line starts, in ascending order.
  std::vector<int64_t> splits;

  int64_t end() const { return begin + static_cast<int64_t>(bytes.size()); }
  int64_t TimeAt(int64_t offset) const;
  // Returns the offset of the first byte that was read at or after this time; end() if there is
  // none.
  int64_t OffsetAtTime(int64_t time_ms) const;

  // Appends a segment that starts where this segment ends.
  void Append(const LogSegment& next);

  // Returns the bytes [from, to), which must be in this segment.
  LogSegment Slice(int64_t from, int64_t to) const;
};

// Computes the offsets at which long lines are split, while the bytes of a stream arrive.
class LineSplitter {
 public:
  // `line_begin` is the start of the line (or part of a line) that is unfinished before the first
  // call of Add.
  explicit LineSplitter(int64_t line_begin) : line_begin_(line_begin) {}

  // Returns the offsets of the splits within `bytes`. `bytes` starts at offset `begin`.
  std::vector<int64_t> Add(int64_t begin, std::string_view bytes);

  // The start of the line (or part of a line) that is unfinished now.
  int64_t line_begin() const { return line_begin_; }

 private:
  int64_t line_begin_;
};

// `seed` is a hash of the row's key (checksum.h). Decoding returns DATA_LOSS if the block is
// damaged.
std::string EncodeLogSegment(const LogSegment& segment, uint64_t seed);
absl::StatusOr<LogSegment> DecodeLogSegment(std::string_view block, int64_t begin, uint64_t seed);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOGS_LOG_SEGMENT_H_
