// A piece of one rank's output as it is stored.
#ifndef TRAINYARD_CONTROLLER_STORE_LOG_SEGMENT_H_
#define TRAINYARD_CONTROLLER_STORE_LOG_SEGMENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// A line longer than this is split. A split falls between two UTF-8 characters, so a part may be up
// to three bytes longer.
inline constexpr int64_t kLineBytesMax = 64 * 1024;

// Bytes from `begin` on, with what a reader needs to make lines of them without looking further
// back.
struct LogSegment {
  // From this offset on, bytes were read at this time.
  struct Mark {
    int64_t offset = 0;
    int64_t time_ms = 0;

    bool operator==(const Mark&) const = default;
  };

  int64_t begin = 0;
  std::string bytes;
  // By growing offset; the first one is at `begin`.
  std::vector<Mark> marks;
  // Offsets at which a new part of a long line begins, growing.
  std::vector<int64_t> splits;

  int64_t end() const { return begin + static_cast<int64_t>(bytes.size()); }
  int64_t TimeAt(int64_t offset) const;
  // The first byte that was read at or after this time; end() when there is none.
  int64_t OffsetAtTime(int64_t time_ms) const;

  // Appends a segment that begins where this one ends.
  void Append(const LogSegment& next);

  // Bytes [from, to), which this segment holds.
  LogSegment Slice(int64_t from, int64_t to) const;
};

// Offsets at which the unfinished line of a stream must be split, as its bytes come in.
class LineSplitter {
 public:
  // `line_begin`: begin of the line, or part of one, that is unfinished before the first bytes.
  explicit LineSplitter(int64_t line_begin) : line_begin_(line_begin) {}

  // Splits within `bytes`, which begin at offset `begin`.
  std::vector<int64_t> Add(int64_t begin, std::string_view bytes);

  // Begin of the line, or part of one, that is unfinished now.
  int64_t line_begin() const { return line_begin_; }

 private:
  int64_t line_begin_;
};

// `seed` is a hash of the row's key (checksum.h). DATA_LOSS when the block is damaged.
std::string EncodeLogSegment(const LogSegment& segment, uint64_t seed);
absl::StatusOr<LogSegment> DecodeLogSegment(std::string_view block, int64_t begin, uint64_t seed);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOG_SEGMENT_H_
