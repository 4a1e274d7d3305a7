#include "controller/store/metrics/series_builder.h"

#include <cmath>
#include <limits>

namespace trainyard::controller {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

BucketGrid MakeBucketGrid(int64_t from, int64_t to, int buckets) {
  if (buckets <= 0 || to < from) return {.from = from, .width = 0};
  // Unsigned arithmetic, because the distance between two steps may not fit into a signed number.
  const uint64_t distance = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  return {.from = from, .width = distance / static_cast<uint64_t>(buckets) + 1};
}

uint64_t SeriesBuilder::OffsetOf(int64_t step) const {
  return static_cast<uint64_t>(step) - static_cast<uint64_t>(grid_.from);
}

uint64_t SeriesBuilder::BucketOf(int64_t step) const { return OffsetOf(step) / grid_.width; }

bool SeriesBuilder::InOneBucket(int64_t first_step, int64_t last_step) const {
  if (smoothing_.weight > 0) return false;
  if (grid_.width == 0) return first_step == last_step;
  return BucketOf(first_step) == BucketOf(last_step);
}

void SeriesBuilder::StartBucketOf(int64_t step) {
  if (grid_.width == 0) {
    Finish();
    return;
  }
  // Compare offsets instead of dividing. One division per point takes a tenth of the time of a
  // chart with millions of points.
  const uint64_t offset = OffsetOf(step);
  if (offset - bucket_offset_ < grid_.width) return;
  Finish();
  bucket_offset_ = offset - offset % grid_.width;
}

bool SeriesBuilder::Average(const SeriesPoint& point) {
  if (smoothing_.weight <= 0) return true;
  if (point.step >= smoothing_.from_step) StartBucketOf(point.step);
  // Skip other values, because a NaN or infinite value would make all later averages non-finite.
  if (std::isfinite(point.value)) {
    average_ = smoothing_.weight * average_ + (1 - smoothing_.weight) * point.value;
    weight_sum_ = smoothing_.weight * weight_sum_ + (1 - smoothing_.weight);
  }
  return point.step >= smoothing_.from_step;
}

void SeriesBuilder::Add(const SeriesPoint& point, int64_t attempt_number) {
  if (!Average(point)) return;
  StartBucketOf(point.step);
  bucket_.Add(point);
  bucket_attempt_ = attempt_number;
}

void SeriesBuilder::Add(const PointSummary& summary, int64_t attempt_number) {
  StartBucketOf(summary.first_step);
  bucket_.Add(summary);
  bucket_attempt_ = attempt_number;
}

void SeriesBuilder::Finish() {
  if (bucket_.count == 0) return;
  series_.add_steps(bucket_.last_step);
  series_.add_times_ms(bucket_.last_time_ms);
  series_.add_last(bucket_.last);
  series_.add_min(bucket_.min);
  series_.add_max(bucket_.max);
  series_.add_counts(bucket_.count);
  series_.add_attempts(bucket_attempt_);
  series_.add_nan_counts(bucket_.nan_count);
  series_.add_mean(
      bucket_.finite_count > 0 ? bucket_.sum / static_cast<double>(bucket_.finite_count) : kNan);
  if (smoothing_.weight > 0) {
    series_.add_smoothed(weight_sum_ > 0 ? average_ / weight_sum_ : kNan);
  }
  bucket_ = PointSummary();
}

}  // namespace trainyard::controller
