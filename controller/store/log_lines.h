// Walks the lines of one stream, forwards or backwards, a segment at a time.
#ifndef TRAINYARD_CONTROLLER_STORE_LOG_LINES_H_
#define TRAINYARD_CONTROLLER_STORE_LOG_LINES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "controller/store/log_segment.h"

namespace trainyard::controller {

// Source of the segments of one stream.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;

  // The segment that holds the byte at `offset`; nothing when no such byte is stored. The same
  // offset may later lie in a larger segment.
  virtual absl::StatusOr<std::optional<LogSegment>> SegmentAt(int64_t offset) const = 0;

  // The first byte before `end` that was read at or after this time; `end` when there is none.
  // Times never go back.
  virtual absl::StatusOr<int64_t> OffsetAtTime(int64_t time_ms, int64_t end) const = 0;
};

// A line, or a part of one that was split. `text` is raw, without the line end.
struct RawLine {
  int64_t begin = 0;
  // Begin of the next line.
  int64_t end = 0;
  int64_t time_ms = 0;
  std::string_view text;
};

struct LineRange {
  // Start of a line, or of a part of one.
  int64_t begin = 0;
  int64_t end = 0;
  // True when bytes at the end without a line end make a line.
  bool include_partial = false;
};

// Lines of a range, from its begin, that hold `grep`; an empty `grep` matches every line.
class ForwardLines {
 public:
  ForwardLines(const SegmentSource& source, LineRange range, std::string_view grep);

  // Moves to the next line; false at the end.
  absl::StatusOr<bool> Next();

  // The line that Next moved to; its text lives until the next call.
  const RawLine& line() const { return line_; }

  // Everything before this offset has been given or does not match.
  int64_t position() const { return position_; }

 private:
  // Result of a search of the bytes at hand: a line, or the need for more bytes.
  enum class Scan { kFound, kNeedsMore };

  Scan ScanBuffer();
  bool SkipToMatch();
  bool TakeLine();
  bool TakePartial();
  absl::StatusOr<bool> LoadNext();

  const SegmentSource& source_;
  const LineRange range_;
  const std::string_view grep_;
  LogSegment buffer_;
  int64_t position_;
  RawLine line_;
};

// The same lines as ForwardLines gives, from the range's end.
class BackwardLines {
 public:
  BackwardLines(const SegmentSource& source, LineRange range, std::string_view grep);

  // Moves to the line before; false when there is none.
  absl::StatusOr<bool> Next();

  const RawLine& line() const { return line_; }

  // Everything from this offset on has been given or does not match. Before the first call of Next,
  // and after Start, it is the end of the last line that counts.
  int64_t position() const { return position_; }

  // Steps over an unfinished line that does not count. Called once, before Next.
  absl::Status Start();

 private:
  // Start of the line that ends at position_; loads segments until it is at hand.
  absl::StatusOr<int64_t> FindLineBegin();
  std::optional<int64_t> LineBeginInBuffer() const;
  absl::Status LoadPrevious();

  const SegmentSource& source_;
  const LineRange range_;
  const std::string_view grep_;
  LogSegment buffer_;
  int64_t position_;
  RawLine line_;
};

// Begin of the line, or part of one, that holds the byte before `offset`; `offset` itself when that
// byte ends its line.
absl::StatusOr<int64_t> LineStartAtOrBefore(const SegmentSource& source, int64_t offset);

// Begin of the first line that begins at or after `offset`; `end` when none begins before `end`.
absl::StatusOr<int64_t> LineStartAtOrAfter(const SegmentSource& source, int64_t offset,
                                           int64_t end);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOG_LINES_H_
