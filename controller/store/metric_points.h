// Points of one series: their column encoding and their roll-up.
#ifndef TRAINYARD_CONTROLLER_STORE_METRIC_POINTS_H_
#define TRAINYARD_CONTROLLER_STORE_METRIC_POINTS_H_

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

// Steps first..last, both included; empty when last < first.
struct StepRange {
  int64_t first = 0;
  int64_t last = 0;
};

// Summary of a run of points that is thinned to one. Points are added by growing step.
struct PointSummary {
  int64_t first_step = 0;
  int64_t last_step = 0;
  int64_t last_time_ms = 0;
  int64_t count = 0;
  // Values that are not a number. They do not change min and max, which stay NaN until another
  // value comes.
  int64_t nan_count = 0;
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  double last = 0;
  // Finite values, and their sum.
  int64_t finite_count = 0;
  double sum = 0;

  void Add(const SeriesPoint& point);
  void Add(const PointSummary& later);
};

// Columns: steps and times as differences of differences, values as each one's XOR with the one
// before, grouped by byte position, so that repeated bytes lie together for the compressor. Any
// order of steps and every bit pattern of a value comes back as it was.
std::string EncodePoints(std::span<const SeriesPoint> points);

// DATA_LOSS when the bytes are not such an encoding.
absl::StatusOr<std::vector<SeriesPoint>> DecodePoints(std::string_view bytes);

// Sorts by step; of points with the same step the last one stays.
void SortAndKeepNewest(std::vector<SeriesPoint>& points);

// Merges two runs that are sorted by step; where both have a step `newer` wins.
std::vector<SeriesPoint> MergePoints(std::span<const SeriesPoint> older,
                                     std::span<const SeriesPoint> newer);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRIC_POINTS_H_
