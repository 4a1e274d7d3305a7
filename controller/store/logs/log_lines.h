// Iterates over the lines of one stream, forwards or backwards, one segment at a time.
#ifndef TRAINYARD_CONTROLLER_STORE_LOGS_LOG_LINES_H_
#define TRAINYARD_CONTROLLER_STORE_LOGS_LOG_LINES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "controller/store/logs/line_matcher.h"
#include "controller/store/logs/log_segment.h"

namespace trainyard::controller {

// Source of the segments of one stream.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;

  // Returns the segment that contains the byte at `offset`; nullopt if that byte is not stored. A
  // later call may return a larger segment for the same offset, because segments are merged.
  virtual absl::StatusOr<std::optional<LogSegment>> SegmentAt(int64_t offset) const = 0;

  // Returns the offset of the first byte before `end` that the worker read at or after this time;
  // `end` if there is none. Times never decrease within a stream.
  virtual absl::StatusOr<int64_t> OffsetAtTime(int64_t time_ms, int64_t end) const = 0;
};

// A line, or one part of a long line that was split (log_segment.h). `text` contains the stored
// bytes without the line end.
struct RawLine {
  int64_t begin = 0;
  // The offset at which the next line starts.
  int64_t end = 0;
  int64_t time_ms = 0;
  std::string_view text;
};

struct LineRange {
  // Must be the start of a line, or of a part of a split line.
  int64_t begin = 0;
  int64_t end = 0;
  // True if the bytes after the last line end of the stream count as a line.
  bool include_partial = false;
};

// Iterates forwards over the selected lines of a range. The matcher must outlive this object.
class ForwardLines {
 public:
  ForwardLines(const SegmentSource& source, LineRange range, const LineMatcher& matcher);

  // Moves to the next line. Returns false if there is none.
  absl::StatusOr<bool> Next();

  // The line that Next moved to. Its text is valid until the next call.
  const RawLine& line() const { return line_; }

  // All lines before this offset were returned or do not match.
  int64_t position() const { return position_; }

 private:
  enum class Scan { kFound, kNeedsMore };

  Scan ScanBuffer();
  bool SkipToMatch();
  bool TakeLine();
  bool TakePartial();
  absl::StatusOr<bool> LoadNext();

  const SegmentSource& source_;
  const LineRange range_;
  const LineMatcher& matcher_;
  LogSegment buffer_;
  int64_t position_;
  RawLine line_;
};

// Iterates over the same lines as ForwardLines, but in reverse order.
class BackwardLines {
 public:
  BackwardLines(const SegmentSource& source, LineRange range, const LineMatcher& matcher);

  // Moves to the previous line. Returns false if there is none.
  absl::StatusOr<bool> Next();

  const RawLine& line() const { return line_; }

  // All lines from this offset on were returned or do not match. Between Start and the first Next,
  // the offset is the end of the last line in the range.
  int64_t position() const { return position_; }

  // Moves to the end of the range. Skips an unfinished last line unless the range includes it. Call
  // once, before Next.
  absl::Status Start();

 private:
  // Returns the start of the line that ends at position_. Loads segments until that start is in the
  // buffer.
  absl::StatusOr<int64_t> FindLineBegin();
  std::optional<int64_t> LineBeginInBuffer() const;
  absl::Status LoadPrevious();

  const SegmentSource& source_;
  const LineRange range_;
  const LineMatcher& matcher_;
  LogSegment buffer_;
  int64_t position_;
  RawLine line_;
};

// Returns the start of the line that contains the byte before `offset`; `offset` itself if that
// byte ends its line. Each part of a split line counts as a line.
absl::StatusOr<int64_t> LineStartAtOrBefore(const SegmentSource& source, int64_t offset);

// Returns the start of the first line that starts at or after `offset`; `end` if no line starts
// between `offset` and `end`.
absl::StatusOr<int64_t> LineStartAtOrAfter(const SegmentSource& source, int64_t offset,
                                           int64_t end);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOGS_LOG_LINES_H_
