// Metric series of every job: compressed column chunks with roll-ups (min, max, last).
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_METRIC_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_METRIC_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/support/stream_key.h"
#include "controller/store/metrics/data_report.h"
#include "controller/store/metrics/data_sets.h"
#include "controller/store/metrics/metric_points.h"
#include "controller/store/support/pruning.h"
#include "controller/store/support/store_mark.h"
#include "trainyard/v1/metric_service.pb.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::controller {

struct MetricPoint {
  std::string key;
  int64_t step = 0;
  int64_t time_ms = 0;
  double value = 0;
};

// The balance of experts at one step.
struct StoredExperts {
  int64_t attempt = 0;
  int64_t time_ms = 0;
  v1::ExpertsRecord record;
};

// Points that were parsed from the bytes [begin_offset, end_offset) of a stream.
struct MetricBatch {
  StreamKey stream;
  int64_t begin_offset = 0;
  int64_t end_offset = 0;
  std::vector<MetricPoint> points;
  std::vector<StoredExperts> experts;
  std::vector<StoredReportPart> reports;
};

struct SeriesQuery {
  int64_t job_id = 0;
  std::vector<std::string> keys;
  int64_t from_step = 0;
  // 0 means up to the newest step.
  int64_t to_step = 0;
  // 0 means every point.
  int buckets = 0;
  // 0 merges the attempts. If several attempts have a step, the newest attempt is used. An older
  // attempt ends where a newer attempt begins.
  int64_t attempt = 0;
  // The weight of the past in an exponential moving average, in [0, 1); 0 means no smoothing. The
  // average covers every point since the beginning of the run, regardless of from_step. The average
  // is computed before points are combined into buckets, so a step has the same average at every
  // zoom level.
  double smooth = 0;
};

// The range of steps at which an attempt has points, over all series.
struct AttemptRange {
  int64_t number = 0;
  StepRange steps;
};

// Thread-safe.
class MetricStore : public PrunableData, public MarkedStore {
 public:
  // Stores all batches or none. The batches are durable when the call returns. Skips a batch that
  // is already stored. OUT_OF_RANGE: a batch begins beyond the stored offset. A new point replaces
  // a stored point that has the same attempt, key and step.
  virtual absl::Status Append(const std::vector<MetricBatch>& batches) = 0;

  // Stored bytes of the stream; 0 for an unknown stream.
  virtual absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream) = 0;

  // Returns one series per key, in the order of the query. If the job does not have a key, the
  // key's series is empty. Buckets are equal ranges of steps and are the same for all keys of the
  // query. If attempts are merged, an older attempt ends at the first step that the newer attempt
  // has in any series. INVALID_ARGUMENT: buckets is negative, or to_step is before from_step.
  // DATA_LOSS: a stored block is damaged.
  virtual absl::StatusOr<std::vector<v1::Series>> Read(const SeriesQuery& query) = 0;

  // Returns the keys of the job's series, sorted.
  virtual absl::StatusOr<std::vector<std::string>> Keys(int64_t job_id) = 0;

  // Returns the job's stored records of experts, by ascending step. expert_history.h limits their
  // number. A record replaces older attempts' records of the same step and of later steps.
  // DATA_LOSS: a record is damaged.
  virtual absl::StatusOr<std::vector<StoredExperts>> ReadExperts(int64_t job_id) = 0;

  // Attempts of the job that have points, oldest first.
  virtual absl::StatusOr<std::vector<AttemptRange>> Attempts(int64_t job_id) = 0;

  // Returns the job's newest complete report of a data set; nullopt if there is none. data_report.h
  // describes which reports are kept. DATA_LOSS: the report is damaged.
  virtual absl::StatusOr<std::optional<StoredDataReport>> ReadDataReport(int64_t job_id) = 0;

  // Returns the data sets that the job's newest complete report lists, in its order. Empty if there
  // is no report, if the report arrived damaged, or if an older release stored the report.
  virtual absl::StatusOr<std::vector<LinkedDataSet>> ReadDataSets(int64_t job_id) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_METRIC_STORE_H_
