#include "controller/store/logs/memory_log_store.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "controller/store/logs/log_merge.h"
#include "controller/store/support/stream_offsets.h"
#include "proto/contract/output_gap.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

// Returns the end offsets of all lines, and of all parts of split lines, after `begin`. The last
// line may be unfinished.
std::vector<int64_t> LineEnds(const LogSegment& stream, int64_t begin) {
  std::vector<int64_t> ends = stream.splits;
  for (std::size_t i = 0; i < stream.bytes.size(); ++i) {
    if (stream.bytes[i] == '\n') ends.push_back(static_cast<int64_t>(i) + 1);
  }
  ends.push_back(stream.end());
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  ends.erase(ends.begin(), std::ranges::upper_bound(ends, begin));
  return ends;
}

std::string_view TextOf(const LogSegment& stream, int64_t begin, int64_t end) {
  std::string_view text = std::string_view(stream.bytes).substr(begin, end - begin);
  if (text.ends_with("\r\n")) return text.substr(0, text.size() - 2);
  return text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
}

}  // namespace

absl::Status MemoryLogStore::CheckBatches(const std::vector<LogBatch>& batches) const {
  std::map<StreamKey, int64_t> ends;
  for (const LogBatch& batch : batches) {
    if (batch.stream.kind != v1::STREAM_KIND_LOG) {
      return absl::InvalidArgumentError("the log store accepts only output of ranks");
    }
    const auto stored = streams_.find(batch.stream);
    int64_t& end =
        ends.emplace(batch.stream, stored == streams_.end() ? 0 : stored->second.output.end())
            .first->second;
    const int64_t batch_end = batch.begin_offset + static_cast<int64_t>(batch.data.size());
    TRAINYARD_RETURN_IF_ERROR(CheckBatchRange(batch.stream, {batch.begin_offset, batch_end}, end));
    end = std::max(end, batch_end);
  }
  return absl::OkStatus();
}

void MemoryLogStore::AppendTo(Stream& stream, const LogBatch& batch) {
  LogSegment& output = stream.output;
  const int64_t begin = output.end();
  if (batch.begin_offset + static_cast<int64_t>(batch.data.size()) <= begin) return;
  const int64_t last_time = output.marks.empty() ? 0 : output.marks.back().time_ms;
  output.marks.push_back({begin, std::max(last_time, batch.time_ms)});
  output.bytes.append(batch.data, begin - batch.begin_offset);
  const auto splits = stream.splitter.Add(begin, std::string_view(output.bytes).substr(begin));
  output.splits.insert(output.splits.end(), splits.begin(), splits.end());
}

absl::Status MemoryLogStore::Append(const std::vector<LogBatch>& batches) {
  std::lock_guard lock(mutex_);
  TRAINYARD_RETURN_IF_ERROR(CheckBatches(batches));
  for (const LogBatch& batch : batches) AppendTo(streams_[batch.stream], batch);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MemoryLogStore::StoredOffset(const StreamKey& stream) {
  std::lock_guard lock(mutex_);
  const auto stored = streams_.find(stream);
  return stored == streams_.end() ? 0 : stored->second.output.end();
}

// Returns the matching lines in the order of LogStore::Read. Moves the cursor past all lines,
// whether they match or not.
std::vector<MemoryLogStore::Line> MemoryLogStore::MatchingLines(const LogQuery& query,
                                                                bool include_partial,
                                                                LogCursor& cursor) {
  std::lock_guard lock(mutex_);
  const LineMatcher matcher(query);
  int64_t newest_number = 0;
  for (const auto& [key, stream] : streams_) {
    if (Wants(query, key)) newest_number = std::max(newest_number, key.attempt);
  }
  std::vector<Line> lines;
  for (const auto& [key, stored] : streams_) {
    if (!Wants(query, key)) continue;
    const LogSegment& stream = stored.output;
    int64_t& position = cursor[key];
    for (const int64_t end : LineEnds(stream, position)) {
      const bool whole = stream.bytes[end - 1] == '\n' || end != stream.end();
      if (!whole && !include_partial && key.attempt == newest_number) break;
      const std::string_view text = TextOf(stream, position, end);
      if (matcher.Matches(text)) {
        Line& line = lines.emplace_back(Line{.stream = key, .end = end});
        line.line.set_attempt(key.attempt);
        line.line.set_rank(key.rank);
        line.line.set_time_ms(stream.TimeAt(position));
        line.line.set_text(ReplaceInvalidUtf8(WithoutGapPadding(text)));
        line.line.set_offset(position);
      }
      position = end;
    }
  }
  std::ranges::stable_sort(lines, {}, [](const Line& line) {
    return std::tuple(line.stream.attempt, line.line.time_ms(), line.stream.rank);
  });
  return lines;
}

absl::Status MemoryLogStore::Read(const LogQuery& query, bool include_partial, LogCursor& cursor,
                                  const std::function<bool(std::vector<v1::LogLine>)>& emit) {
  TRAINYARD_RETURN_IF_ERROR(CheckLogQuery(query));
  LogCursor after = cursor;
  std::vector<Line> lines = MatchingLines(query, include_partial, after);
  const auto tail = static_cast<std::size_t>(query.tail);
  const bool leaves_out = tail > 0 || query.new_only;
  if (leaves_out && lines.size() > tail) lines.erase(lines.begin(), lines.end() - query.tail);
  for (Line& line : lines) {
    cursor[line.stream] = line.end;
    if (!emit({std::move(line.line)})) return absl::OkStatus();
  }
  cursor = std::move(after);
  return absl::OkStatus();
}

// True if the line is after the position, in the order of LogPosition.
bool MemoryLogStore::IsAfter(const v1::LogLine& line, const LogPosition& position) {
  if (position.attempt == 0) return line.time_ms() >= position.time_ms;
  if (line.attempt() == position.attempt && line.rank() == position.rank) {
    return line.offset() > position.offset;
  }
  return std::tuple(line.attempt(), line.time_ms(), line.rank()) >
         std::tuple(position.attempt, position.time_ms, position.rank);
}

absl::StatusOr<LogPage> MemoryLogStore::ReadPage(const LogPageQuery& query, bool include_partial) {
  TRAINYARD_RETURN_IF_ERROR(CheckLogQuery(query.lines));
  LogPage page;
  LogCursor cursor;
  std::vector<v1::LogLine> before, after;
  for (Line& line : MatchingLines(query.lines, include_partial, cursor)) {
    const bool is_place = query.from.has_value() && line.line.attempt() == query.from->attempt &&
                          line.line.rank() == query.from->rank &&
                          line.line.offset() == query.from->offset;
    if (is_place) continue;
    bool is_after = query.newer;
    if (query.from_offset >= 0) is_after = line.end > query.from_offset;
    if (query.from.has_value()) is_after = IsAfter(line.line, *query.from);
    (is_after ? after : before).push_back(std::move(line.line));
  }
  for (const auto& [stream, end] : cursor) page.extents.emplace_back(stream, end);
  const auto limit = static_cast<std::size_t>(query.limit);
  page.lines = query.newer ? std::move(after) : std::move(before);
  const bool more = page.lines.size() > limit;
  if (more && query.newer) page.lines.resize(limit);
  if (more && !query.newer) page.lines.erase(page.lines.begin(), page.lines.end() - query.limit);
  const bool has_place = query.from.has_value() || query.from_offset >= 0;
  page.more_before = query.newer ? has_place : more;
  page.more_after = query.newer ? more : has_place;
  return page;
}

absl::StatusOr<StoreUsage> MemoryLogStore::Usage() {
  std::lock_guard lock(mutex_);
  StoreUsage usage;
  for (const auto& [key, stream] : streams_) usage.used_bytes += stream.output.end();
  return usage;
}

absl::StatusOr<int64_t> MemoryLogStore::NextJob(int64_t after) {
  std::lock_guard lock(mutex_);
  const auto next = std::ranges::find_if(
      streams_, [=](const auto& stored) { return stored.first.job_id > after; });
  return next == streams_.end() ? 0 : next->first.job_id;
}

absl::StatusOr<int64_t> MemoryLogStore::JobBytes(int64_t job_id) {
  std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [key, stream] : streams_) {
    if (key.job_id == job_id) bytes += stream.output.end();
  }
  return bytes;
}

absl::Status MemoryLogStore::DropJob(int64_t job_id) {
  std::lock_guard lock(mutex_);
  std::erase_if(streams_, [=](const auto& stored) { return stored.first.job_id == job_id; });
  return absl::OkStatus();
}

absl::StatusOr<bool> MemoryLogStore::Reclaim() { return false; }

}  // namespace trainyard::controller
