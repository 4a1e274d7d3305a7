// The tables of metrics.db: streams, series, attempts, the tail of new points, and chunks.
//
// Points land in the tail: one row for each attempt and Append, holding every series that the
// append touched. When an attempt's tail is large it is folded: the points of each series go into
// chunks. Chunks of one series and attempt never overlap. Tail points may overlap chunks; they are
// newer and win.
#ifndef TRAINYARD_CONTROLLER_STORE_METRIC_TABLES_H_
#define TRAINYARD_CONTROLLER_STORE_METRIC_TABLES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/metric_points.h"
#include "controller/store/migrations.h"
#include "controller/store/sqlite_database.h"

namespace trainyard::controller {

// Points in a full chunk.
inline constexpr std::size_t kChunkPoints = 1024;

std::span<const Migration> MetricMigrations();

// Points of several series of one attempt, by series id, in the order in which they arrived.
using PointsBySeries = std::map<int64_t, std::vector<SeriesPoint>>;

struct AttemptSteps {
  int64_t number = 0;
  // Smallest step of any series.
  int64_t first_step = 0;
};

// One chunk while the query that found it stands on its row.
struct ChunkRow {
  const SqliteQuery* query = nullptr;
  int64_t series_id = 0;
  int64_t attempt = 0;
  PointSummary summary;
  // False: the sum of the summary is not stored, so only the points tell their mean.
  bool has_sum = false;
};

// Adds points to the attempt's tail and folds the tail when it has grown large. The caller holds a
// write transaction.
absl::Status AddPoints(SqliteDatabase& database, int64_t job_id, int64_t attempt_number,
                       const PointsBySeries& points);

// The series' number, given out when the key is new. The caller holds a write transaction.
absl::StatusOr<int64_t> SeriesIdFor(SqliteDatabase& database, int64_t job_id, std::string_view key);

// The series' number, or nothing when the job has no such key.
absl::StatusOr<std::optional<int64_t>> FindSeriesId(SqliteDatabase& database, int64_t job_id,
                                                    std::string_view key);

// Attempts of the job that have points, oldest first.
absl::StatusOr<std::vector<AttemptSteps>> ReadAttempts(SqliteDatabase& database, int64_t job_id);

// The tail of an attempt, each series in order of arrival.
absl::StatusOr<PointsBySeries> ReadTail(SqliteDatabase& database, int64_t job_id,
                                        int64_t attempt_number);

// First and last step of the series' chunks; nothing when it has none.
absl::StatusOr<std::optional<StepRange>> ReadChunkRange(SqliteDatabase& database, int64_t series_id,
                                                        int64_t attempt_number);

// Calls `visit` for each chunk with steps within `range`, by growing step. DATA_LOSS when a roll-up
// fails its checksum.
absl::Status VisitChunks(SqliteDatabase& database, int64_t series_id, int64_t attempt_number,
                         StepRange range,
                         const std::function<absl::Status(const ChunkRow&)>& visit);

// The chunk's points. DATA_LOSS.
absl::StatusOr<std::vector<SeriesPoint>> ReadChunkPoints(const ChunkRow& row);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRIC_TABLES_H_
