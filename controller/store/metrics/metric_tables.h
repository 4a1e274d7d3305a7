// The tables of metrics.db: streams, series, attempts, the tail of new points, and chunks.
//
// New points are first written to the tail. Each Append writes one row per attempt, which contains
// the points of all series. When an attempt's tail is large, it is folded: the points of each
// series are moved into chunks. Chunks of one series and attempt never overlap. Points in the tail
// may overlap chunks. Tail points are newer and take precedence.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_METRIC_TABLES_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_METRIC_TABLES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/metrics/metric_points.h"
#include "controller/store/sql/sql_database.h"
#include "proto/contract/attempt_key.h"

namespace trainyard::controller {

// Number of points in a full chunk.
inline constexpr std::size_t kChunkPoints = 1024;

// The points of several series of one attempt. The key is the series id; the points are in order of
// arrival.
using PointsBySeries = std::map<int64_t, std::vector<SeriesPoint>>;

struct AttemptSteps {
  int64_t number = 0;
  // Lowest step of any series.
  int64_t first_step = 0;
};

// One chunk. Valid only until the query that returned it moves to another row.
struct ChunkRow {
  const SqlRows* query = nullptr;
  int64_t series_id = 0;
  int64_t attempt = 0;
  PointSummary summary;
  // False if the sum is not stored; the mean must then be computed from the points.
  bool has_sum = false;
};

struct NewPoints {
  AttemptKey attempt;
  PointsBySeries points;
};

// Adds points to the tails of different attempts, and folds the tails that have grown large.
// Requires a write transaction.
absl::Status AddPoints(SqlDatabase& database, const std::vector<NewPoints>& attempts);

struct SeriesName {
  int64_t job_id = 0;
  std::string_view key;
};

// Returns the id of each series, in the order of `names`, which must differ. Assigns an id to a new
// series. Requires a write transaction.
absl::StatusOr<std::vector<int64_t>> SeriesIdsFor(SqlDatabase& database,
                                                  const std::vector<SeriesName>& names);

// Returns the series id; nullopt if the job has no such key.
absl::StatusOr<std::optional<int64_t>> FindSeriesId(SqlDatabase& database, int64_t job_id,
                                                    std::string_view key);

// Attempts of the job that have points, oldest first.
absl::StatusOr<std::vector<AttemptSteps>> ReadAttempts(SqlDatabase& database, int64_t job_id);

// Returns the tail of an attempt; the points of each series are in order of arrival.
absl::StatusOr<PointsBySeries> ReadTail(SqlDatabase& database, int64_t job_id,
                                        int64_t attempt_number);

// Returns the first and the last step in the chunks of the series; nullopt if it has no chunks.
absl::StatusOr<std::optional<StepRange>> ReadChunkRange(SqlDatabase& database, int64_t series_id,
                                                        int64_t attempt_number);

// Calls `visit` for each chunk with steps in `range`, in ascending order. DATA_LOSS if the checksum
// of a chunk's summary is wrong.
absl::Status VisitChunks(SqlDatabase& database, int64_t series_id, int64_t attempt_number,
                         StepRange range,
                         const std::function<absl::Status(const ChunkRow&)>& visit);

// The chunk's points. DATA_LOSS if the chunk is damaged.
absl::StatusOr<std::vector<SeriesPoint>> ReadChunkPoints(const ChunkRow& row);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_METRIC_TABLES_H_
