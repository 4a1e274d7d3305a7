#include "controller/store/logs/log_lines.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

std::string_view WithoutLineEnd(std::string_view text) {
  if (!text.ends_with('\n')) return text;
  text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

RawLine MakeLine(const LogSegment& buffer, int64_t begin, int64_t end) {
  const std::string_view bytes = buffer.bytes;
  return {begin, end, buffer.TimeAt(begin),
          WithoutLineEnd(bytes.substr(begin - buffer.begin, end - begin))};
}

const LineMatcher& EveryLine() {
  static const LineMatcher kEveryLine;
  return kEveryLine;
}

absl::Status MissingBytes(int64_t offset) {
  return absl::DataLossError(absl::StrCat("the log segment at byte ", offset, " is missing"));
}

}  // namespace

ForwardLines::ForwardLines(const SegmentSource& source, LineRange range, const LineMatcher& matcher)
    : source_(source),
      range_(range),
      matcher_(matcher),
      buffer_{.begin = range.begin},
      position_(range.begin) {}

absl::StatusOr<bool> ForwardLines::LoadNext() {
  const int64_t end = buffer_.end();
  if (end >= range_.end) return false;
  TRAINYARD_ASSIGN_OR_RETURN(auto segment, source_.SegmentAt(end));
  if (!segment.has_value()) return MissingBytes(end);
  LogSegment rest =
      buffer_.bytes.empty() ? LogSegment{.begin = end} : buffer_.Slice(position_, end);
  rest.Append(segment->Slice(end, std::min(segment->end(), range_.end)));
  buffer_ = std::move(rest);
  return true;
}

// Moves position_ past whole lines that do not match. Returns false if the rest of the buffer
// contains no match.
bool ForwardLines::SkipToMatch() {
  const std::string_view bytes = buffer_.bytes;
  const std::size_t from = position_ - buffer_.begin;
  const std::size_t match = matcher_.FirstCandidate(bytes.substr(from));
  const bool found = match != std::string_view::npos;
  // The line (or the part of a split line) that contains the match begins after the last line end
  // or split before the match.
  const std::size_t until = found ? from + match : bytes.size();
  const std::size_t newline = bytes.substr(from, until - from).rfind('\n');
  if (newline != std::string_view::npos) position_ += static_cast<int64_t>(newline) + 1;
  const int64_t until_offset = buffer_.begin + static_cast<int64_t>(until);
  const auto split = std::ranges::upper_bound(buffer_.splits, until_offset);
  if (split != buffer_.splits.begin()) position_ = std::max(position_, *std::prev(split));
  return found;
}

// Moves the line at position_ into line_ and advances position_ past it. Returns false if the end
// of the line is not in the buffer.
bool ForwardLines::TakeLine() {
  const std::string_view bytes = buffer_.bytes;
  const std::size_t newline = bytes.find('\n', position_ - buffer_.begin);
  int64_t end =
      newline == std::string_view::npos ? -1 : buffer_.begin + static_cast<int64_t>(newline) + 1;
  const auto split = std::ranges::upper_bound(buffer_.splits, position_);
  if (split != buffer_.splits.end() && (end < 0 || *split < end)) end = *split;
  if (end < 0) return false;
  line_ = MakeLine(buffer_, position_, end);
  position_ = end;
  return true;
}

ForwardLines::Scan ForwardLines::ScanBuffer() {
  while (position_ < buffer_.end()) {
    if (!SkipToMatch() || !TakeLine()) return Scan::kNeedsMore;
    // Check the line again: the match that SkipToMatch found begins in this line, or in this part
    // of a split line, but may end in the next line.
    if (matcher_.Matches(line_.text)) return Scan::kFound;
  }
  return Scan::kNeedsMore;
}

bool ForwardLines::TakePartial() {
  if (!range_.include_partial || position_ >= buffer_.end()) return false;
  line_ = MakeLine(buffer_, position_, buffer_.end());
  position_ = buffer_.end();
  return matcher_.Matches(line_.text);
}

absl::StatusOr<bool> ForwardLines::Next() {
  while (ScanBuffer() == Scan::kNeedsMore) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool loaded, LoadNext());
    if (!loaded) return TakePartial();
  }
  return true;
}

BackwardLines::BackwardLines(const SegmentSource& source, LineRange range,
                             const LineMatcher& matcher)
    : source_(source),
      range_(range),
      matcher_(matcher),
      buffer_{.begin = range.end},
      position_(range.end) {}

absl::Status BackwardLines::LoadPrevious() {
  const int64_t last = buffer_.begin - 1;
  TRAINYARD_ASSIGN_OR_RETURN(auto segment, source_.SegmentAt(last));
  if (!segment.has_value()) return MissingBytes(last);
  LogSegment loaded = segment->Slice(std::max(segment->begin, range_.begin), last + 1);
  // The bytes from position_ on were already returned, so those bytes are not needed.
  if (position_ > buffer_.begin) loaded.Append(buffer_.Slice(buffer_.begin, position_));
  buffer_ = std::move(loaded);
  return absl::OkStatus();
}

std::optional<int64_t> BackwardLines::LineBeginInBuffer() const {
  const std::string_view bytes(buffer_.bytes.data(), position_ - buffer_.begin);
  int64_t begin = -1;
  // If the last byte is a line end, it belongs to this line, not to the next.
  const std::size_t newline =
      bytes.size() < 2 ? std::string_view::npos : bytes.rfind('\n', bytes.size() - 2);
  if (newline != std::string_view::npos) begin = buffer_.begin + static_cast<int64_t>(newline) + 1;
  const auto split = std::ranges::lower_bound(buffer_.splits, position_);
  if (split != buffer_.splits.begin()) begin = std::max(begin, *std::prev(split));
  if (begin < 0 && buffer_.begin <= range_.begin) begin = range_.begin;
  return begin < 0 ? std::nullopt : std::optional(begin);
}

absl::StatusOr<int64_t> BackwardLines::FindLineBegin() {
  if (position_ == buffer_.begin) TRAINYARD_RETURN_IF_ERROR(LoadPrevious());
  while (true) {
    if (const auto begin = LineBeginInBuffer(); begin.has_value()) return *begin;
    TRAINYARD_RETURN_IF_ERROR(LoadPrevious());
  }
}

absl::Status BackwardLines::Start() {
  if (range_.include_partial || position_ <= range_.begin) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t begin, FindLineBegin());
  if (buffer_.bytes[position_ - 1 - buffer_.begin] != '\n') position_ = begin;
  return absl::OkStatus();
}

absl::StatusOr<bool> BackwardLines::Next() {
  while (position_ > range_.begin) {
    TRAINYARD_ASSIGN_OR_RETURN(const int64_t begin, FindLineBegin());
    line_ = MakeLine(buffer_, begin, position_);
    position_ = begin;
    if (matcher_.Matches(line_.text)) return true;
  }
  return false;
}

absl::StatusOr<int64_t> LineStartAtOrBefore(const SegmentSource& source, int64_t offset) {
  BackwardLines before(source, {.begin = 0, .end = offset, .include_partial = false}, EveryLine());
  TRAINYARD_RETURN_IF_ERROR(before.Start());
  return before.position();
}

absl::StatusOr<int64_t> LineStartAtOrAfter(const SegmentSource& source, int64_t offset,
                                           int64_t end) {
  if (offset >= end) return end;
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t start, LineStartAtOrBefore(source, offset));
  if (start == offset) return start;
  ForwardLines line(source, {.begin = start, .end = end, .include_partial = false}, EveryLine());
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, line.Next());
  return found ? line.line().end : end;
}

}  // namespace trainyard::controller
