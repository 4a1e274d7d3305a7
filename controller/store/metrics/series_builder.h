// Converts points and summaries of chunks, in ascending order of steps, to the columns of a series.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_SERIES_BUILDER_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_SERIES_BUILDER_H_

#include <cstdint>

#include "controller/store/metrics/metric_points.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller {

// Divides the steps starting at `from` into equal buckets.
struct BucketGrid {
  int64_t from = 0;
  // Steps per bucket. 0 means one bucket per point.
  uint64_t width = 0;
};

// Returns at most `buckets` equal buckets over [from, to]. If `buckets` is 0, each point gets its
// own bucket.
BucketGrid MakeBucketGrid(int64_t from, int64_t to, int buckets);

// The exponential moving average over all points added so far. The newest value has weight (1 -
// weight). Bias correction, as in Adam, makes the first average equal the first value.
struct Smoothing {
  // 0 means no smoothing.
  double weight = 0;
  // Points before this step count in the average but are not part of the result.
  int64_t from_step = 0;
};

class SeriesBuilder {
 public:
  SeriesBuilder(const BucketGrid& grid, v1::Series& series, Smoothing smoothing = {})
      : grid_(grid), series_(series), smoothing_(smoothing) {}

  void Add(const SeriesPoint& point, int64_t attempt_number);

  // True if the steps from first to last are in one bucket. In this case their summary suffices.
  // Always false with smoothing, which needs every point.
  bool InOneBucket(int64_t first_step, int64_t last_step) const;
  void Add(const PointSummary& summary, int64_t attempt_number);

  // Writes the last bucket. Nothing may be added after this call.
  void Finish();

 private:
  uint64_t OffsetOf(int64_t step) const;
  uint64_t BucketOf(int64_t step) const;
  void StartBucketOf(int64_t step);

  // Adds the point to the average. Returns false if the point is not part of the result.
  bool Average(const SeriesPoint& point);

  const BucketGrid grid_;
  v1::Series& series_;
  const Smoothing smoothing_;
  double average_ = 0;
  // The sum of the weights of all values so far; always below 1.
  double weight_sum_ = 0;
  PointSummary bucket_;
  int64_t bucket_attempt_ = 0;
  // Start of the current bucket, in steps from the grid's start.
  uint64_t bucket_offset_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_SERIES_BUILDER_H_
