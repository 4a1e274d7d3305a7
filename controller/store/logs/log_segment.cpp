#include "controller/store/logs/log_segment.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "controller/store/support/block_codec.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kContinuationBytesMax = 3;

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

bool TakeNumber(std::string_view& in, int64_t& number) {
  uint64_t value = 0;
  if (!TakeVarint(in, value)) return false;
  number = UnZigZag(value);
  return true;
}

bool TakeMarks(std::string_view& in, LogSegment& segment) {
  uint64_t count = 0;
  if (!TakeVarint(in, count) || count > in.size()) return false;
  LogSegment::Mark previous{segment.begin, 0};
  for (uint64_t i = 0; i < count; ++i) {
    LogSegment::Mark step;
    if (!TakeNumber(in, step.offset) || !TakeNumber(in, step.time_ms)) return false;
    previous = {previous.offset + step.offset, previous.time_ms + step.time_ms};
    segment.marks.push_back(previous);
  }
  return true;
}

bool TakeSplits(std::string_view& in, LogSegment& segment) {
  uint64_t count = 0;
  if (!TakeVarint(in, count) || count > in.size()) return false;
  int64_t previous = segment.begin;
  for (uint64_t i = 0; i < count; ++i) {
    int64_t step = 0;
    if (!TakeNumber(in, step)) return false;
    previous += step;
    segment.splits.push_back(previous);
  }
  return true;
}

}  // namespace

int64_t LogSegment::TimeAt(int64_t offset) const {
  const auto after = std::ranges::upper_bound(marks, offset, {}, &Mark::offset);
  return after == marks.begin() ? 0 : std::prev(after)->time_ms;
}

int64_t LogSegment::OffsetAtTime(int64_t time_ms) const {
  const auto mark = std::ranges::lower_bound(marks, time_ms, {}, &Mark::time_ms);
  return mark == marks.end() ? end() : mark->offset;
}

void LogSegment::Append(const LogSegment& next) {
  for (const Mark& mark : next.marks) {
    if (marks.empty() || marks.back().time_ms != mark.time_ms) marks.push_back(mark);
  }
  splits.insert(splits.end(), next.splits.begin(), next.splits.end());
  bytes.append(next.bytes);
}

LogSegment LogSegment::Slice(int64_t from, int64_t to) const {
  LogSegment slice{.begin = from, .bytes = bytes.substr(from - begin, to - from)};
  slice.marks.push_back({from, TimeAt(from)});
  for (const Mark& mark : marks) {
    if (mark.offset > from && mark.offset < to) slice.marks.push_back(mark);
  }
  for (const int64_t split : splits) {
    if (split >= from && split < to) slice.splits.push_back(split);
  }
  return slice;
}

std::vector<int64_t> LineSplitter::Add(int64_t begin, std::string_view bytes) {
  std::vector<int64_t> splits;
  const int64_t end = begin + static_cast<int64_t>(bytes.size());
  for (int64_t position = begin; position < end;) {
    const char* from = bytes.data() + (position - begin);
    const auto* newline = static_cast<const char*>(std::memchr(from, '\n', end - position));
    const int64_t line_end = newline == nullptr ? end : begin + (newline - bytes.data());
    // Split at the first byte at or beyond the limit that does not continue a UTF-8 character.
    while (line_end - line_begin_ > kLineBytesMax) {
      int64_t split = std::max(line_begin_ + kLineBytesMax, position);
      while (split < line_end && split < line_begin_ + kLineBytesMax + kContinuationBytesMax &&
             IsContinuation(bytes[split - begin])) {
        ++split;
      }
      if (split >= line_end) break;
      splits.push_back(split);
      line_begin_ = split;
    }
    if (newline == nullptr) break;
    position = line_end + 1;
    line_begin_ = position;
  }
  return splits;
}

std::string EncodeLogSegment(const LogSegment& segment, uint64_t seed) {
  std::string raw;
  raw.reserve(segment.bytes.size() + 64);
  PutVarint(segment.marks.size(), raw);
  LogSegment::Mark previous{segment.begin, 0};
  for (const LogSegment::Mark& mark : segment.marks) {
    PutVarint(ZigZag(mark.offset - previous.offset), raw);
    PutVarint(ZigZag(mark.time_ms - previous.time_ms), raw);
    previous = mark;
  }
  PutVarint(segment.splits.size(), raw);
  int64_t previous_split = segment.begin;
  for (const int64_t split : segment.splits) {
    PutVarint(ZigZag(split - previous_split), raw);
    previous_split = split;
  }
  raw.append(segment.bytes);
  return SealBlock(raw, seed);
}

absl::StatusOr<LogSegment> DecodeLogSegment(std::string_view block, int64_t begin, uint64_t seed) {
  TRAINYARD_ASSIGN_OR_RETURN(std::string raw, OpenBlock(block, seed));
  LogSegment segment{.begin = begin};
  std::string_view rest = raw;
  if (!TakeMarks(rest, segment) || !TakeSplits(rest, segment)) {
    return absl::DataLossError("a log segment is malformed");
  }
  raw.erase(0, raw.size() - rest.size());
  segment.bytes = std::move(raw);
  return segment;
}

}  // namespace trainyard::controller
