// Metric series of every job: compressed column chunks with min/max/last roll-ups.
#ifndef TRAINYARD_CONTROLLER_STORE_METRIC_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_METRIC_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/metric_points.h"
#include "controller/store/pruning.h"
#include "controller/store/store_mark.h"
#include "controller/store/stream_key.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller {

struct MetricPoint {
  std::string key;
  int64_t step = 0;
  int64_t time_ms = 0;
  double value = 0;
};

// Points read from bytes [begin_offset, end_offset) of a stream.
struct MetricBatch {
  StreamKey stream;
  int64_t begin_offset = 0;
  int64_t end_offset = 0;
  std::vector<MetricPoint> points;
};

struct SeriesQuery {
  int64_t job_id = 0;
  std::vector<std::string> keys;
  int64_t from_step = 0;
  // 0: up to the newest.
  int64_t to_step = 0;
  // 0: every point.
  int buckets = 0;
  // 0: attempts merged. At each step the newest attempt wins, and steps that an earlier attempt
  // reached beyond the point where a newer one resumed are left out.
  int64_t attempt = 0;
  // Weight of the past in an exponential moving average, at least 0 and below 1; 0 means none. It
  // runs over every point from the beginning of the run, whatever from_step says, before anything
  // is thinned: the same step has the same average at every zoom.
  double smooth = 0;
};

// Steps that an attempt has points for, of any series.
struct AttemptRange {
  int64_t number = 0;
  StepRange steps;
};

// Thread-safe.
class MetricStore : public PrunableData, public MarkedStore {
 public:
  // Stores all batches or none; durable on return. A batch whose bytes are stored already is
  // skipped; one that begins beyond the stored offset is OUT_OF_RANGE. A point that comes again for
  // the same attempt, key and step replaces the one before.
  virtual absl::Status Append(const std::vector<MetricBatch>& batches) = 0;

  // Bytes of the stream that are stored; 0 for an unknown one.
  virtual absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream) = 0;

  // One series for each key, in the order of the query; a key that the job does not have has no
  // points. Buckets are equal ranges of steps, the same for all keys of the query. Without an
  // attempt an older attempt ends at the newer one's first step of any series. INVALID_ARGUMENT:
  // negative buckets, or to_step before from_step. DATA_LOSS: a stored block is damaged.
  virtual absl::StatusOr<std::vector<v1::Series>> Read(const SeriesQuery& query) = 0;

  // Sorted names of the job's series.
  virtual absl::StatusOr<std::vector<std::string>> Keys(int64_t job_id) = 0;

  // Attempts of the job that have points, oldest first.
  virtual absl::StatusOr<std::vector<AttemptRange>> Attempts(int64_t job_id) = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRIC_STORE_H_
