#include "controller/store/metrics/metric_tables.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/support/block_codec.h"
#include "controller/store/support/checksum.h"

namespace trainyard::controller {
namespace {

// A tail (metric_tables.h) that exceeds one of the next two limits is folded into chunks. The
// limits balance two costs: every read decodes the whole tail, and every fold rewrites the newest
// chunk of each series.
constexpr int64_t kTailPointsMax = 16'384;
constexpr int64_t kTailRowsMax = 1'024;

constexpr char kFindSeries[] = "SELECT id FROM series WHERE job_id = $1 AND key = $2";

// Limit on the number of chunks in memory while a series is read.
constexpr int64_t kVisitedChunks = 64;

constexpr char kChunkColumns[] =
    "SELECT first_step, last_step, last_time_ms, count, nan_count, min, max, last, checksum, "
    "block, sum FROM chunk ";
constexpr int kBlockColumn = 9;
constexpr int kSumColumn = 10;

// SQLite does not preserve the bits of a NaN or the sign of a zero, so the checksum must not depend
// on them.
int64_t StoredBits(double value) {
  if (value != value) return std::bit_cast<int64_t>(std::numeric_limits<double>::quiet_NaN());
  return std::bit_cast<int64_t>(value == 0 ? 0.0 : value);
}

// Returns true if the sum is stored. The sum must be finite, and no value may be infinite. In this
// case finite_count is the number of non-NaN values and need not be stored.
bool HasStoredSum(const PointSummary& summary) {
  return summary.finite_count == summary.count - summary.nan_count && std::isfinite(summary.sum);
}

// Without a sum, returns the same checksum as older releases, which stored no sums.
int64_t SummaryChecksum(int64_t series_id, int64_t attempt_number, const PointSummary& summary,
                        bool has_sum) {
  const auto rest = static_cast<int64_t>(
      HashOf({series_id, attempt_number, summary.first_step, summary.last_step,
              summary.last_time_ms, summary.count, summary.nan_count, StoredBits(summary.min),
              StoredBits(summary.max), StoredBits(summary.last)}));
  return has_sum ? static_cast<int64_t>(HashOf({rest, StoredBits(summary.sum)})) : rest;
}

uint64_t ChunkSeed(int64_t series_id, int64_t attempt_number, int64_t first_step) {
  return HashOf({series_id, attempt_number, first_step});
}

absl::Status WriteChunk(SqlDatabase& database, int64_t series_id, int64_t attempt_number,
                        std::span<const SeriesPoint> points) {
  PointSummary summary;
  for (const SeriesPoint& point : points) summary.Add(point);
  const std::string block =
      SealBlock(EncodePoints(points), ChunkSeed(series_id, attempt_number, summary.first_step));
  const bool has_sum = HasStoredSum(summary);
  return database.Run(
      "INSERT INTO chunk (series_id, attempt, first_step, last_step, last_time_ms, count, "
      "nan_count, min, max, last, checksum, block, sum) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, "
      "$9, "
      "$10, $11, $12, $13)",
      series_id, attempt_number, summary.first_step, summary.last_step, summary.last_time_ms,
      summary.count, summary.nan_count, summary.min, summary.max, summary.last,
      SummaryChecksum(series_id, attempt_number, summary, has_sum), SqlBlob{block},
      has_sum ? summary.sum : std::numeric_limits<double>::quiet_NaN());
}

absl::Status WriteChunks(SqlDatabase& database, int64_t series_id, int64_t attempt_number,
                         std::span<const SeriesPoint> points) {
  while (!points.empty()) {
    const std::size_t size = std::min(points.size(), kChunkPoints);
    TRAINYARD_RETURN_IF_ERROR(WriteChunk(database, series_id, attempt_number, points.first(size)));
    points = points.subspan(size);
  }
  return absl::OkStatus();
}

absl::StatusOr<ChunkRow> ReadChunkRow(const SqlRows& query, int64_t series_id,
                                      int64_t attempt_number, const std::string& path) {
  const bool has_sum = !query.IsNull(kSumColumn);
  const int64_t not_nan = query.Int64(3) - query.Int64(4);
  const PointSummary summary{.first_step = query.Int64(0),
                             .last_step = query.Int64(1),
                             .last_time_ms = query.Int64(2),
                             .count = query.Int64(3),
                             .nan_count = query.Int64(4),
                             .min = query.Double(5),
                             .max = query.Double(6),
                             .last = query.Double(7),
                             .finite_count = has_sum ? not_nan : 0,
                             .sum = has_sum ? query.Double(kSumColumn) : 0};
  if (SummaryChecksum(series_id, attempt_number, summary, has_sum) != query.Int64(8)) {
    return absl::DataLossError(
        absl::StrCat(path, ": the roll-up of series ", series_id, ", attempt ", attempt_number,
                     ", step ", summary.first_step, " fails its checksum; restore a backup"));
  }
  return ChunkRow{&query, series_id, attempt_number, summary, has_sum};
}

// The last chunk that begins at or before a given step, with its points.
struct ChunkAtStep {
  int64_t first_step = 0;
  int64_t last_step = 0;
  std::vector<SeriesPoint> points;
};

absl::StatusOr<std::optional<ChunkAtStep>> ReadChunkAt(SqlDatabase& database, int64_t series_id,
                                                       int64_t attempt_number, int64_t step) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query,
      database.Query(absl::StrCat(kChunkColumns,
                                  "WHERE series_id = $1 AND attempt = $2 AND "
                                  "first_step <= $3 ORDER BY first_step DESC LIMIT 1"),
                     series_id, attempt_number, step));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
  if (!found) return std::optional<ChunkAtStep>();
  TRAINYARD_ASSIGN_OR_RETURN(const ChunkRow row,
                             ReadChunkRow(*query, series_id, attempt_number, database.name()));
  const bool full = row.summary.count >= static_cast<int64_t>(kChunkPoints);
  if (full && row.summary.last_step < step) return std::optional<ChunkAtStep>();
  TRAINYARD_ASSIGN_OR_RETURN(auto points, ReadChunkPoints(row));
  return std::optional(
      ChunkAtStep{row.summary.first_step, row.summary.last_step, std::move(points)});
}

// Returns the first step of the next chunk after this step; the largest possible step if there is
// no such chunk.
absl::StatusOr<int64_t> NextChunkBegin(SqlDatabase& database, int64_t series_id,
                                       int64_t attempt_number, int64_t step) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query, database.Query("SELECT MIN(first_step) FROM chunk WHERE series_id = $1 AND "
                                       "attempt = $2 AND first_step > $3",
                                       series_id, attempt_number, step));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
  return found && !query->IsNull(0) ? query->Int64(0) : std::numeric_limits<int64_t>::max();
}

// Writes the first points of `fresh`, up to the next chunk. If these points fall into a chunk or
// extend a chunk, merges them with that chunk. Returns the number of points written.
absl::StatusOr<std::size_t> FoldBeforeNextChunk(SqlDatabase& database, int64_t series_id,
                                                int64_t attempt_number,
                                                std::span<const SeriesPoint> fresh) {
  const int64_t step = fresh.front().step;
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t end,
                             NextChunkBegin(database, series_id, attempt_number, step));
  // The first point is not compared, because this point is always written, even if it has the
  // largest possible step.
  const auto beyond = std::ranges::lower_bound(fresh.subspan(1), end, {}, &SeriesPoint::step);
  const auto size = static_cast<std::size_t>(beyond - fresh.begin());
  const std::span<const SeriesPoint> taken = fresh.first(size);
  TRAINYARD_ASSIGN_OR_RETURN(auto chunk, ReadChunkAt(database, series_id, attempt_number, step));
  if (!chunk.has_value()) {
    TRAINYARD_RETURN_IF_ERROR(WriteChunks(database, series_id, attempt_number, taken));
    return size;
  }
  TRAINYARD_RETURN_IF_ERROR(
      database.Run("DELETE FROM chunk WHERE series_id = $1 AND attempt = $2 AND first_step = $3",
                   series_id, attempt_number, chunk->first_step));
  TRAINYARD_RETURN_IF_ERROR(
      WriteChunks(database, series_id, attempt_number, MergePoints(chunk->points, taken)));
  return size;
}

absl::Status FoldSeries(SqlDatabase& database, int64_t series_id, int64_t attempt_number,
                        std::vector<SeriesPoint> points) {
  SortAndKeepNewest(points);
  std::span<const SeriesPoint> rest = points;
  while (!rest.empty()) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::size_t folded,
                               FoldBeforeNextChunk(database, series_id, attempt_number, rest));
    rest = rest.subspan(folded);
  }
  return absl::OkStatus();
}

absl::Status FoldTail(SqlDatabase& database, int64_t job_id, int64_t attempt_number,
                      const PointsBySeries& fresh) {
  TRAINYARD_ASSIGN_OR_RETURN(PointsBySeries all, ReadTail(database, job_id, attempt_number));
  for (const auto& [series_id, points] : fresh) {
    auto& known = all[series_id];
    known.insert(known.end(), points.begin(), points.end());
  }
  for (auto& [series_id, points] : all) {
    TRAINYARD_RETURN_IF_ERROR(FoldSeries(database, series_id, attempt_number, std::move(points)));
  }
  TRAINYARD_RETURN_IF_ERROR(
      database.Run("DELETE FROM tail WHERE job_id = $1 AND attempt = $2", job_id, attempt_number));
  return database.Run(
      "UPDATE attempt SET tail_rows = 0, tail_points = 0 WHERE job_id = $1 AND attempt = $2",
      job_id, attempt_number);
}

// Returns a block of the tail. For each series it contains: series id, size of the encoded points,
// encoded points.
std::string TailBlock(const AttemptKey& attempt, const PointsBySeries& points) {
  std::string raw;
  for (const auto& [series_id, series_points] : points) {
    const std::string encoded = EncodePoints(series_points);
    PutVarint(static_cast<uint64_t>(series_id), raw);
    PutVarint(encoded.size(), raw);
    raw.append(encoded);
  }
  return SealBlock(raw, HashOf({attempt.job_id, attempt.number}));
}

absl::Status WriteTailRows(SqlDatabase& database, const std::vector<const NewPoints*>& attempts) {
  std::vector<std::string> blocks;
  blocks.reserve(attempts.size());
  std::vector<SqlArguments> rows;
  for (const NewPoints* attempt : attempts) {
    blocks.push_back(TailBlock(attempt->attempt, attempt->points));
    rows.push_back(
        MakeSqlArguments(attempt->attempt.job_id, attempt->attempt.number, SqlBlob{blocks.back()}));
  }
  return database.RunForEach("INSERT INTO tail (job_id, attempt, block) VALUES ($1, $2, $3)", rows,
                             nullptr);
}

absl::Status AddTailBlock(std::string_view raw, PointsBySeries& points) {
  while (!raw.empty()) {
    uint64_t series_id = 0;
    uint64_t size = 0;
    if (!TakeVarint(raw, series_id) || !TakeVarint(raw, size) || size > raw.size()) {
      return absl::DataLossError("a tail block is malformed");
    }
    TRAINYARD_ASSIGN_OR_RETURN(auto decoded, DecodePoints(raw.substr(0, size)));
    auto& known = points[static_cast<int64_t>(series_id)];
    known.insert(known.end(), decoded.begin(), decoded.end());
    raw.remove_prefix(size);
  }
  return absl::OkStatus();
}

absl::Status WithPath(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ": ", status.message(), "; restore a backup"));
}

// Arguments of kCountPoints.
SqlArguments CountArguments(const NewPoints& fresh) {
  int64_t count = 0;
  int64_t first_step = std::numeric_limits<int64_t>::max();
  for (const auto& [series_id, series_points] : fresh.points) {
    count += static_cast<int64_t>(series_points.size());
    for (const SeriesPoint& point : series_points) first_step = std::min(first_step, point.step);
  }
  return MakeSqlArguments(fresh.attempt.job_id, fresh.attempt.number, first_step, count);
}

constexpr char kCountPoints[] =
    "INSERT INTO attempt VALUES ($1, $2, $3, 1, $4) ON CONFLICT (job_id, attempt) DO UPDATE SET "
    "first_step = CASE WHEN excluded.first_step < attempt.first_step THEN excluded.first_step ELSE "
    "attempt.first_step END, tail_rows = attempt.tail_rows + 1, tail_points = attempt.tail_points "
    "+ excluded.tail_points RETURNING tail_rows, tail_points";

// Adds the points to the counts in the rows of their attempts. Returns the attempts whose tail must
// be folded.
absl::StatusOr<std::set<AttemptKey>> CountPoints(SqlDatabase& database,
                                                 const std::vector<NewPoints>& attempts) {
  std::vector<SqlArguments> rows;
  rows.reserve(attempts.size());
  for (const NewPoints& fresh : attempts) rows.push_back(CountArguments(fresh));
  std::set<AttemptKey> full;
  TRAINYARD_RETURN_IF_ERROR(
      database.RunForEach(kCountPoints, rows, [&](std::size_t i, SqlRows& counted) -> absl::Status {
        TRAINYARD_ASSIGN_OR_RETURN(const bool found, counted.Next());
        if (found && (counted.Int64(0) > kTailRowsMax || counted.Int64(1) > kTailPointsMax)) {
          full.insert(attempts[i].attempt);
        }
        return absl::OkStatus();
      }));
  return full;
}

}  // namespace

absl::Status AddPoints(SqlDatabase& database, const std::vector<NewPoints>& attempts) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::set<AttemptKey> full, CountPoints(database, attempts));
  std::vector<const NewPoints*> short_tails;
  for (const NewPoints& fresh : attempts) {
    if (!full.contains(fresh.attempt)) {
      short_tails.push_back(&fresh);
      continue;
    }
    TRAINYARD_RETURN_IF_ERROR(
        FoldTail(database, fresh.attempt.job_id, fresh.attempt.number, fresh.points));
  }
  return WriteTailRows(database, short_tails);
}

absl::StatusOr<std::vector<int64_t>> SeriesIdsFor(SqlDatabase& database,
                                                  const std::vector<SeriesName>& names) {
  std::vector<SqlArguments> rows;
  rows.reserve(names.size());
  for (const SeriesName& name : names) rows.push_back(MakeSqlArguments(name.job_id, name.key));
  std::vector<int64_t> ids(names.size());
  TRAINYARD_RETURN_IF_ERROR(
      database.RunForEach(kFindSeries, rows, [&](std::size_t i, SqlRows& found) -> absl::Status {
        TRAINYARD_ASSIGN_OR_RETURN(const bool known, found.Next());
        ids[i] = known ? found.Int64(0) : 0;
        return absl::OkStatus();
      }));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (ids[i] != 0) continue;
    TRAINYARD_ASSIGN_OR_RETURN(
        ids[i], database.QueryInt64("INSERT INTO series (job_id, key) VALUES ($1, $2) RETURNING id",
                                    names[i].job_id, names[i].key));
  }
  return ids;
}

absl::StatusOr<std::optional<int64_t>> FindSeriesId(SqlDatabase& database, int64_t job_id,
                                                    std::string_view key) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto query, database.Query(kFindSeries, job_id, key));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
  return found ? std::optional(query->Int64(0)) : std::nullopt;
}

absl::StatusOr<std::vector<AttemptSteps>> ReadAttempts(SqlDatabase& database, int64_t job_id) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query,
      database.Query("SELECT attempt, first_step FROM attempt WHERE job_id = $1 ORDER BY attempt",
                     job_id));
  std::vector<AttemptSteps> attempts;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
    if (!found) return attempts;
    attempts.push_back({query->Int64(0), query->Int64(1)});
  }
}

absl::StatusOr<PointsBySeries> ReadTail(SqlDatabase& database, int64_t job_id,
                                        int64_t attempt_number) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query,
      database.Query("SELECT block FROM tail WHERE job_id = $1 AND attempt = $2 ORDER BY id",
                     job_id, attempt_number));
  PointsBySeries points;
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
    if (!found) return points;
    auto raw = OpenBlock(query->Bytes(0), HashOf({job_id, attempt_number}));
    if (!raw.ok()) return WithPath(database.name(), raw.status());
    TRAINYARD_RETURN_IF_ERROR(AddTailBlock(*raw, points));
  }
}

absl::StatusOr<std::optional<StepRange>> ReadChunkRange(SqlDatabase& database, int64_t series_id,
                                                        int64_t attempt_number) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const auto query,
      database.Query("SELECT (SELECT first_step FROM chunk WHERE series_id = $1 AND attempt = $2 "
                     "ORDER BY first_step LIMIT 1), (SELECT last_step FROM chunk WHERE "
                     "series_id = $1 AND attempt = $2 ORDER BY first_step DESC LIMIT 1)",
                     series_id, attempt_number));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
  if (!found || query->IsNull(0)) return std::optional<StepRange>();
  return std::optional(StepRange{query->Int64(0), query->Int64(1)});
}

absl::Status VisitChunks(SqlDatabase& database, int64_t series_id, int64_t attempt_number,
                         StepRange range,
                         const std::function<absl::Status(const ChunkRow&)>& visit) {
  // Chunks do not overlap, so the chunks of the next page begin after the last one of this page.
  int64_t begin = std::numeric_limits<int64_t>::min();
  while (true) {
    TRAINYARD_ASSIGN_OR_RETURN(
        const auto query,
        database.Query(absl::StrCat(kChunkColumns,
                                    "WHERE series_id = $1 AND attempt = $2 AND first_step >= $3 "
                                    "AND first_step <= $4 AND last_step >= $5 ORDER BY first_step "
                                    "LIMIT $6"),
                       series_id, attempt_number, begin, range.last, range.first, kVisitedChunks));
    int64_t visited = 0;
    while (true) {
      TRAINYARD_ASSIGN_OR_RETURN(const bool found, query->Next());
      if (!found) break;
      TRAINYARD_ASSIGN_OR_RETURN(const ChunkRow row,
                                 ReadChunkRow(*query, series_id, attempt_number, database.name()));
      const auto status = visit(row);
      if (absl::IsDataLoss(status)) return WithPath(database.name(), status);
      TRAINYARD_RETURN_IF_ERROR(status);
      ++visited;
      begin = row.summary.last_step;
    }
    if (visited < kVisitedChunks || begin >= range.last) return absl::OkStatus();
    ++begin;
  }
}

absl::StatusOr<std::vector<SeriesPoint>> ReadChunkPoints(const ChunkRow& row) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string raw, OpenBlock(row.query->Bytes(kBlockColumn),
                                                              ChunkSeed(row.series_id, row.attempt,
                                                                        row.summary.first_step)));
  TRAINYARD_ASSIGN_OR_RETURN(auto points, DecodePoints(raw));
  if (static_cast<int64_t>(points.size()) != row.summary.count) {
    return absl::DataLossError("the number of points in a chunk differs from its roll-up");
  }
  return points;
}

}  // namespace trainyard::controller
