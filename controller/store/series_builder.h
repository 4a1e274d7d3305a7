// Turns points and roll-ups, by growing step, into the columns that a reader gets.
#ifndef TRAINYARD_CONTROLLER_STORE_SERIES_BUILDER_H_
#define TRAINYARD_CONTROLLER_STORE_SERIES_BUILDER_H_

#include <cstdint>

#include "controller/store/metric_points.h"
#include "trainyard/v1/metric_service.pb.h"

namespace trainyard::controller {

// Steps [from, to] in equal buckets.
struct BucketGrid {
  int64_t from = 0;
  // Steps in a bucket; 0: every point is its own bucket.
  uint64_t width = 0;
};

// At most `buckets` buckets over [from, to]; buckets 0 means one for each point.
BucketGrid MakeBucketGrid(int64_t from, int64_t to, int buckets);

// A moving average over all points that are added, each weighing (1 - weight) of the new value; the
// start is corrected, so that the first average is the first value (Adam's debiasing).
struct Smoothing {
  // 0: none.
  double weight = 0;
  // Points before this step are averaged and not shown.
  int64_t from_step = 0;
};

class SeriesBuilder {
 public:
  SeriesBuilder(const BucketGrid& grid, v1::Series& series, Smoothing smoothing = {})
      : grid_(grid), series_(series), smoothing_(smoothing) {}

  void Add(const SeriesPoint& point, int64_t attempt_number);

  // True when steps first..last lie in one bucket, so that their roll-up suffices. Never with
  // smoothing, which needs every point.
  bool InOneBucket(int64_t first_step, int64_t last_step) const;
  void Add(const PointSummary& summary, int64_t attempt_number);

  // Writes the last bucket. Nothing may be added after it.
  void Finish();

 private:
  uint64_t OffsetOf(int64_t step) const;
  uint64_t BucketOf(int64_t step) const;
  void StartBucketOf(int64_t step);

  // False when the point is only averaged.
  bool Average(const SeriesPoint& point);

  const BucketGrid grid_;
  v1::Series& series_;
  const Smoothing smoothing_;
  double average_ = 0;
  // Sum of the weights of all values so far; below 1 at the beginning.
  double weight_sum_ = 0;
  PointSummary bucket_;
  int64_t bucket_attempt_ = 0;
  // Begin of the present bucket, in steps from the grid's beginning.
  uint64_t bucket_offset_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SERIES_BUILDER_H_
