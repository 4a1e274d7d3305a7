// The points of one series: their encoding in columns, and their summaries.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_METRIC_POINTS_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_METRIC_POINTS_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::controller {

struct SeriesPoint {
  int64_t step = 0;
  int64_t time_ms = 0;
  double value = 0;

  bool operator==(const SeriesPoint&) const = default;
};

// The steps from `first` to `last`, both included; empty if last < first.
struct StepRange {
  int64_t first = 0;
  int64_t last = 0;
};

// Summary of consecutive points. Points are added in ascending order of steps.
struct PointSummary {
  int64_t first_step = 0;
  int64_t last_step = 0;
  int64_t last_time_ms = 0;
  int64_t count = 0;
  // The number of NaN values. NaN values do not affect min and max, which are NaN until another
  // value is added.
  int64_t nan_count = 0;
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  double last = 0;
  // The number of finite values, and (`sum`) their sum.
  int64_t finite_count = 0;
  double sum = 0;

  void Add(const SeriesPoint& point);
  void Add(const PointSummary& later);
};

// Encodes points in columns. Steps and times are stored as second differences. Each value is XORed
// with the previous one, and the results are grouped by byte position, so that repeated bytes are
// adjacent and compress well. Lossless for any order of steps and every bit pattern of a value.
std::string EncodePoints(std::span<const SeriesPoint> points);

// DATA_LOSS if the bytes are not a valid encoding.
absl::StatusOr<std::vector<SeriesPoint>> DecodePoints(std::string_view bytes);

// Sorts the points by step. If several points have the same step, keeps only the last one.
void SortAndKeepNewest(std::vector<SeriesPoint>& points);

// Merges two sequences of points, each sorted by step. If both have a point at a step, keeps the
// point of `newer`.
std::vector<SeriesPoint> MergePoints(std::span<const SeriesPoint> older,
                                     std::span<const SeriesPoint> newer);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_METRIC_POINTS_H_
