#include "controller/store/logs/stored_segments.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/support/checksum.h"

namespace trainyard::controller {
namespace {

// Reads a segment from a row with the columns begin_offset, length, block.
absl::StatusOr<LogSegment> ReadSegment(const SqlRows& query, int64_t stream_id,
                                       const std::string& path) {
  const int64_t begin = query.Int64(0);
  auto segment = DecodeLogSegment(query.Bytes(2), begin, HashOf({stream_id, begin}));
  if (segment.ok() && segment->end() - begin == query.Int64(1)) return segment;
  return absl::DataLossError(absl::StrCat(path, ": the log segment at byte ", begin, " of stream ",
                                          stream_id, " is damaged; restore a backup"));
}

class StoredSegmentSource : public SegmentSource {
 public:
  StoredSegmentSource(SqlDatabase& database, int64_t stream_id, const std::atomic<bool>* abandoned)
      : database_(database), stream_id_(stream_id), abandoned_(abandoned) {}

  absl::StatusOr<std::optional<LogSegment>> SegmentAt(int64_t offset) const override {
    if (abandoned_ != nullptr && abandoned_->load()) {
      return absl::CancelledError("the request for these lines was canceled");
    }
    TRAINYARD_ASSIGN_OR_RETURN(
        const auto query,
        database_.Query("SELECT begin_offset, length, block FROM segment WHERE stream_id = $1 AND "
                        "begin_offset <= $2 ORDER BY begin_offset DESC LIMIT 1",
                        stream_id_, offset));
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
    if (!found || query->Int64(0) + query->Int64(1) <= offset) return std::optional<LogSegment>();
    TRAINYARD_ASSIGN_OR_RETURN(LogSegment segment,
                               ReadSegment(*query, stream_id_, database_.name()));
    return std::optional(std::move(segment));
  }

  absl::StatusOr<int64_t> OffsetAtTime(int64_t time_ms, int64_t end) const override {
    // Binary search. The first segment with a byte that was read at or after `time_ms` starts in
    // [low, high].
    int64_t low = 0, high = end;
    while (low < high) {
      TRAINYARD_ASSIGN_OR_RETURN(
          const auto query,
          database_.Query(
              "SELECT begin_offset, length, last_time_ms FROM segment WHERE "
              "stream_id = $1 AND begin_offset <= $2 ORDER BY begin_offset DESC LIMIT 1",
              stream_id_, low + (high - low) / 2));
      TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
      if (!found) return end;
      const int64_t begin = query->Int64(0);
      if (query->Int64(2) >= time_ms) {
        high = std::min(high, begin);
      } else {
        low = begin + query->Int64(1);
      }
    }
    if (low >= end) return end;
    TRAINYARD_ASSIGN_OR_RETURN(const auto segment, SegmentAt(low));
    return segment.has_value() ? std::min(end, segment->OffsetAtTime(time_ms)) : end;
  }

 private:
  SqlDatabase& database_;
  const int64_t stream_id_;
  const std::atomic<bool>* abandoned_;
};

// Returns one segment that contains the unmerged stored segments and the fresh segment.
absl::StatusOr<LogSegment> JoinUnpacked(SqlDatabase& database, int64_t stream_id,
                                        int64_t packed_offset, const LogSegment& fresh) {
  LogSegment joined{.begin = packed_offset};
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query,
      database.Query("SELECT begin_offset, length, block FROM segment WHERE stream_id = $1 AND "
                     "begin_offset >= $2 ORDER BY begin_offset",
                     stream_id, packed_offset));
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
    if (!found) break;
    TRAINYARD_ASSIGN_OR_RETURN(const LogSegment segment,
                               ReadSegment(*query, stream_id, database.name()));
    joined.Append(segment);
  }
  joined.Append(fresh);
  return joined;
}

}  // namespace

absl::Status WriteSegments(SqlDatabase& database, const std::vector<StoredSegment>& segments) {
  std::vector<std::string> blocks;
  blocks.reserve(segments.size());
  std::vector<SqlArguments> rows;
  for (const auto& [stream_id, segment] : segments) {
    blocks.push_back(EncodeLogSegment(segment, HashOf({stream_id, segment.begin})));
    rows.push_back(MakeSqlArguments(stream_id, segment.begin, segment.bytes.size(),
                                    segment.marks.front().time_ms, segment.marks.back().time_ms,
                                    SqlBlob{blocks.back()}));
  }
  return database.RunForEach(
      "INSERT INTO segment (stream_id, begin_offset, length, first_time_ms, last_time_ms, block) "
      "VALUES ($1, $2, $3, $4, $5, $6)",
      rows, nullptr);
}

absl::StatusOr<int64_t> PackSegments(SqlDatabase& database, int64_t stream_id,
                                     int64_t packed_offset, const LogSegment& fresh) {
  TRAINYARD_ASSIGN_OR_RETURN(const LogSegment joined,
                             JoinUnpacked(database, stream_id, packed_offset, fresh));
  TRAINYARD_RETURN_IF_ERROR(database.Run(
      "DELETE FROM segment WHERE stream_id = $1 AND begin_offset >= $2", stream_id, packed_offset));
  std::vector<StoredSegment> packed;
  int64_t begin = joined.begin;
  for (; joined.end() - begin >= kPackedLogBytes; begin += kPackedLogBytes) {
    packed.push_back({stream_id, joined.Slice(begin, begin + kPackedLogBytes)});
  }
  if (begin < joined.end()) packed.push_back({stream_id, joined.Slice(begin, joined.end())});
  TRAINYARD_RETURN_IF_ERROR(WriteSegments(database, packed));
  return begin;
}

std::unique_ptr<SegmentSource> MakeSegmentSource(SqlDatabase& database, int64_t stream_id,
                                                 const std::atomic<bool>* abandoned) {
  return std::make_unique<StoredSegmentSource>(database, stream_id, abandoned);
}

}  // namespace trainyard::controller
