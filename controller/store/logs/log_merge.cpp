#include "controller/store/logs/log_merge.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <type_traits>

#include "proto/contract/output_gap.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

// The maximum size of a chunk. The size is small because each slow consumer keeps one chunk in
// memory, and there may be a few hundred slow consumers.
constexpr std::size_t kEmitBytesMax = std::size_t{256} << 10;
// The maximum total size of a line's fields except its text.
constexpr std::size_t kLineOverheadBytes = 48;

v1::LogLine ToLogLine(const StreamKey& stream, const RawLine& raw) {
  v1::LogLine line;
  line.set_attempt(stream.attempt);
  line.set_rank(stream.rank);
  line.set_time_ms(raw.time_ms);
  line.set_text(ReplaceInvalidUtf8(WithoutGapPadding(raw.text)));
  line.set_offset(raw.begin);
  return line;
}

// Collects lines into chunks. The cursor moves only past lines that were emitted.
class LineEmitter {
 public:
  LineEmitter(const EmitLines& emit, LogCursor& cursor) : emit_(emit), cursor_(cursor) {}

  // Adds the line. Returns false if the reader wants no further lines.
  bool Add(const StreamKey& stream, const RawLine& raw) {
    v1::LogLine line = ToLogLine(stream, raw);
    const std::size_t size = line.text().size() + kLineOverheadBytes;
    if (bytes_ + size > kEmitBytesMax && !Flush()) return false;
    bytes_ += size;
    lines_.push_back(std::move(line));
    MoveTo(stream, raw.end);
    return true;
  }

  // Moves the stream's position to `offset`: all lines before it were emitted or do not match.
  void MoveTo(const StreamKey& stream, int64_t offset) { moved_[stream] = offset; }

  bool Flush() {
    for (const auto& [stream, offset] : moved_) cursor_[stream] = offset;
    moved_.clear();
    bytes_ = 0;
    if (lines_.empty()) return true;
    return emit_(std::exchange(lines_, {}));
  }

 private:
  const EmitLines& emit_;
  LogCursor& cursor_;
  std::vector<v1::LogLine> lines_;
  std::size_t bytes_ = 0;
  LogCursor moved_;
};

// The next line of a stream, as an entry of a priority queue: the time of the line and the index of
// the stream. The streams of an attempt are sorted by rank, so lines with the same time are ordered
// by rank.
using Head = std::tuple<int64_t, std::size_t>;
using EarliestFirst = std::priority_queue<Head, std::vector<Head>, std::greater<>>;
using LatestFirst = std::priority_queue<Head>;

}  // namespace

absl::Status CheckLogQuery(const LogQuery& query) {
  if (query.tail < 0) {
    return absl::InvalidArgumentError("tail is negative; set it to 0 for all lines");
  }
  if (query.new_only && query.tail != 0) {
    return absl::InvalidArgumentError("set tail or new_only, not both");
  }
  if (query.grep.find('\n') != std::string::npos) {
    return absl::InvalidArgumentError(
        "the text to search for contains a line end, but each line is searched separately; search "
        "for text within one line");
  }
  return CheckPattern(query);
}

bool Wants(const LogQuery& query, const StreamKey& stream) {
  if (stream.job_id != query.job_id) return false;
  if (query.attempt != 0 && stream.attempt != query.attempt) return false;
  return query.ranks.empty() || std::ranges::find(query.ranks, stream.rank) != query.ranks.end();
}

std::vector<LogMerge::AttemptStreams> LogMerge::Attempts() const {
  std::vector<AttemptStreams> attempts;
  for (auto begin = streams_.begin(); begin != streams_.end();) {
    const auto end = std::find_if(begin, streams_.end(), [&](const LogStream& stream) {
      return stream.key.attempt != begin->key.attempt;
    });
    attempts.emplace_back(begin, end);
    begin = end;
  }
  return attempts;
}

LineRange LogMerge::RangeOf(const LogStream& stream) const {
  const auto given = cursor_.find(stream.key);
  const int64_t begin = given == cursor_.end() ? 0 : given->second;
  // All attempts but the newest are over.
  const bool is_over = include_partial_ || stream.key.attempt != streams_.back().key.attempt;
  return {.begin = std::clamp<int64_t>(begin, 0, stream.end_offset),
          .end = stream.end_offset,
          .include_partial = is_over};
}

// Moves the cursor so that only the last `tail` lines remain.
absl::Status LogMerge::SkipToTail() {
  int64_t wanted = query_.tail;
  const std::vector<AttemptStreams> attempts = Attempts();
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
    TRAINYARD_ASSIGN_OR_RETURN(const int64_t found, SkipWithin(*attempt, wanted));
    wanted -= found;
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> LogMerge::SkipWithin(AttemptStreams attempt, int64_t wanted) {
  std::vector<BackwardLines> lines;
  std::vector<int64_t> positions;
  lines.reserve(attempt.size());
  LatestFirst heads;
  for (std::size_t i = 0; i < attempt.size(); ++i) {
    lines.emplace_back(*attempt[i].source, RangeOf(attempt[i]), matcher_);
    TRAINYARD_RETURN_IF_ERROR(lines[i].Start());
    positions.push_back(lines[i].position());
    if (wanted == 0) continue;
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, lines[i].Next());
    if (found) heads.emplace(lines[i].line().time_ms, i);
  }
  int64_t taken = 0;
  while (taken < wanted && !heads.empty()) {
    const std::size_t i = std::get<1>(heads.top());
    heads.pop();
    positions[i] = lines[i].line().begin;
    ++taken;
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, lines[i].Next());
    if (found) heads.emplace(lines[i].line().time_ms, i);
  }
  for (std::size_t i = 0; i < attempt.size(); ++i) cursor_[attempt[i].key] = positions[i];
  return taken;
}

absl::StatusOr<bool> LogMerge::ReadAttempt(AttemptStreams attempt, const EmitLines& emit) {
  std::vector<ForwardLines> lines;
  lines.reserve(attempt.size());
  LineEmitter emitter(emit, cursor_);
  EarliestFirst heads;
  const auto advance = [&](std::size_t i) -> absl::Status {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, lines[i].Next());
    if (found) {
      heads.emplace(lines[i].line().time_ms, i);
    } else {
      emitter.MoveTo(attempt[i].key, lines[i].position());
    }
    return absl::OkStatus();
  };
  for (std::size_t i = 0; i < attempt.size(); ++i) {
    lines.emplace_back(*attempt[i].source, RangeOf(attempt[i]), matcher_);
    TRAINYARD_RETURN_IF_ERROR(advance(i));
  }
  while (!heads.empty()) {
    const std::size_t i = std::get<1>(heads.top());
    heads.pop();
    if (!emitter.Add(attempt[i].key, lines[i].line())) return false;
    TRAINYARD_RETURN_IF_ERROR(advance(i));
  }
  return emitter.Flush();
}

absl::Status LogMerge::Read(const EmitLines& emit) {
  if (streams_.empty()) return absl::OkStatus();
  if (query_.tail > 0 || query_.new_only) TRAINYARD_RETURN_IF_ERROR(SkipToTail());
  for (const AttemptStreams attempt : Attempts()) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool wants_more, ReadAttempt(attempt, emit));
    if (!wants_more) return absl::OkStatus();
  }
  return absl::OkStatus();
}

namespace {

// Returns the start of the stream's first line after the position. If `inclusive` is true, a line
// exactly at the position counts too.
absl::StatusOr<int64_t> BoundaryOf(const LogStream& stream, const LogPosition& position,
                                   bool inclusive) {
  const StreamKey& key = stream.key;
  if (position.attempt != 0 && key.attempt != position.attempt) {
    return key.attempt < position.attempt ? stream.end_offset : 0;
  }
  if (position.attempt != 0 && key.rank == position.rank) {
    const int64_t offset =
        std::clamp<int64_t>(position.offset + (inclusive ? 0 : 1), 0, stream.end_offset);
    return LineStartAtOrAfter(*stream.source, offset, stream.end_offset);
  }
  // If two lines have the same time, the line of the higher rank comes later.
  const int64_t time_ms = position.time_ms + (key.rank > position.rank ? 0 : 1);
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t offset,
                             stream.source->OffsetAtTime(time_ms, stream.end_offset));
  return LineStartAtOrAfter(*stream.source, offset, stream.end_offset);
}

absl::StatusOr<LineRange> PageRange(const LogPageQuery& query, const LogStream& stream,
                                    bool include_partial) {
  LineRange range{.begin = 0, .end = stream.end_offset, .include_partial = include_partial};
  int64_t place = query.newer ? 0 : stream.end_offset;
  if (query.from_offset >= 0) {
    TRAINYARD_ASSIGN_OR_RETURN(
        place,
        LineStartAtOrBefore(*stream.source, std::min(query.from_offset + 1, stream.end_offset)));
    // If the byte at from_offset is a line end, `place` is now the start of the next line. Go back
    // to the line that this byte ends.
    if (place > query.from_offset && place > 0) {
      TRAINYARD_ASSIGN_OR_RETURN(place, LineStartAtOrBefore(*stream.source, place - 1));
    }
  } else if (query.from.has_value()) {
    TRAINYARD_ASSIGN_OR_RETURN(place, BoundaryOf(stream, *query.from, !query.newer));
  }
  if (query.newer) {
    range.begin = place;
  } else if (place < range.end) {
    range.end = place;
    range.include_partial = false;
  }
  return range;
}

constexpr std::size_t kPageTextBytes = std::size_t{4} << 20;

// Adds lines of one attempt, starting with the line nearest to the position. Stops when the page
// has kPageTextBytes of text, or one line more than the limit, which shows that there are more
// lines. `Lines` iterates over one stream; `Heads` yields the next line of all streams.
template <typename Lines, typename Heads>
absl::Status TakePageLines(std::span<const LogStream> attempt, const std::vector<LineRange>& ranges,
                           const LogPageQuery& query, std::size_t& bytes, LogPage& page) {
  const LineMatcher matcher(query.lines);
  std::vector<Lines> lines;
  lines.reserve(attempt.size());
  Heads heads;
  const auto advance = [&](std::size_t i) -> absl::Status {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, lines[i].Next());
    if (found) heads.emplace(lines[i].line().time_ms, i);
    return absl::OkStatus();
  };
  for (std::size_t i = 0; i < attempt.size(); ++i) {
    lines.emplace_back(*attempt[i].source, ranges[i], matcher);
    if constexpr (std::is_same_v<Lines, BackwardLines>) {
      TRAINYARD_RETURN_IF_ERROR(lines[i].Start());
    }
    TRAINYARD_RETURN_IF_ERROR(advance(i));
  }
  while (!heads.empty() && static_cast<int>(page.lines.size()) <= query.limit &&
         bytes < kPageTextBytes) {
    const std::size_t i = std::get<1>(heads.top());
    heads.pop();
    page.lines.push_back(ToLogLine(attempt[i].key, lines[i].line()));
    bytes += page.lines.back().text().size() + kLineOverheadBytes;
    TRAINYARD_RETURN_IF_ERROR(advance(i));
  }
  return absl::OkStatus();
}

bool IsFull(const LogPage& page, const LogPageQuery& query, std::size_t bytes) {
  return static_cast<int>(page.lines.size()) > query.limit || bytes >= kPageTextBytes;
}

// Removes the surplus line, puts the lines into log order, and sets more_before and more_after.
// Before the call, the lines are in order of their distance from the position.
void FinishPage(const LogPageQuery& query, std::size_t bytes, LogPage& page) {
  const bool more = IsFull(page, query, bytes);
  if (more && page.lines.size() > 1) page.lines.pop_back();
  if (!query.newer) std::ranges::reverse(page.lines);
  const bool has_place = query.from.has_value() || query.from_offset >= 0;
  page.more_before = query.newer ? has_place : more;
  page.more_after = query.newer ? more : has_place;
}

}  // namespace

absl::StatusOr<LogPage> ReadLogPage(const LogPageQuery& query,
                                    const std::vector<LogStream>& streams, bool include_partial) {
  LogPage page;
  for (const LogStream& stream : streams) page.extents.emplace_back(stream.key, stream.end_offset);
  std::vector<std::pair<std::size_t, std::size_t>> attempts;
  for (std::size_t begin = 0; begin < streams.size();) {
    std::size_t end = begin;
    while (end < streams.size() && streams[end].key.attempt == streams[begin].key.attempt) ++end;
    attempts.emplace_back(begin, end);
    begin = end;
  }
  if (!query.newer) std::ranges::reverse(attempts);
  std::size_t bytes = 0;
  for (const auto& [begin, end] : attempts) {
    if (IsFull(page, query, bytes)) break;
    const auto attempt = std::span(streams).subspan(begin, end - begin);
    const bool is_over = include_partial || end != streams.size();
    std::vector<LineRange> ranges;
    for (const LogStream& stream : attempt) {
      TRAINYARD_ASSIGN_OR_RETURN(const LineRange range, PageRange(query, stream, is_over));
      ranges.push_back(range);
    }
    TRAINYARD_RETURN_IF_ERROR(
        query.newer
            ? (TakePageLines<ForwardLines, EarliestFirst>(attempt, ranges, query, bytes, page))
            : (TakePageLines<BackwardLines, LatestFirst>(attempt, ranges, query, bytes, page)));
  }
  FinishPage(query, bytes, page);
  return page;
}

}  // namespace trainyard::controller
