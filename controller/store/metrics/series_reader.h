// Answers a SeriesQuery from the tables of metrics.db.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_SERIES_READER_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_SERIES_READER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/metrics/metric_store.h"
#include "controller/store/metrics/metric_tables.h"
#include "controller/store/metrics/series_builder.h"
#include "controller/store/sql/sql_database.h"

namespace trainyard::controller {

// INVALID_ARGUMENT if the fields of the query contradict each other.
absl::Status CheckSeriesQuery(const SeriesQuery& query);

// One query. The caller must have opened a read transaction on the database.
class SeriesReader {
 public:
  SeriesReader(SqlDatabase& database, const SeriesQuery& query)
      : database_(database), query_(query) {}

  // Returns one series per key, in the order of the query. If the job does not have a key, the
  // key's series is empty.
  absl::StatusOr<std::vector<v1::Series>> Read();

 private:
  // The steps of one attempt that are used in a series.
  struct Span {
    int64_t attempt = 0;
    StepRange range;
  };
  struct SeriesSpans {
    int64_t id = 0;
    std::vector<Span> spans;  // Oldest attempt first, by ascending steps.
  };

  absl::Status LoadAttempts();
  absl::StatusOr<SeriesSpans> FindSpans(const std::string& key);
  absl::StatusOr<std::optional<StepRange>> StoredRange(int64_t series_id, int64_t attempt_number);
  BucketGrid GridOver(const std::vector<SeriesSpans>& all) const;
  absl::Status AddSpan(int64_t series_id, const Span& span, SeriesBuilder& builder);
  const std::vector<SeriesPoint>& TailOf(int64_t series_id, int64_t attempt_number) const;

  SqlDatabase& database_;
  const SeriesQuery& query_;
  std::vector<AttemptSteps> attempts_;
  std::map<int64_t, PointsBySeries> tails_;  // By attempt. Sorted by step, newest point per step.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_SERIES_READER_H_
