#include "controller/store/metrics/metric_points.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "absl/status/status.h"
#include "controller/store/support/block_codec.h"

namespace trainyard::controller {
namespace {

constexpr int kValueBytes = 8;

// Appends one field of all points as second differences. The differences wrap around, so that they
// are defined for any numbers.
void PutColumn(std::span<const SeriesPoint> points, int64_t SeriesPoint::*field, std::string& out) {
  uint64_t previous = 0;
  uint64_t previous_delta = 0;
  for (const SeriesPoint& point : points) {
    const uint64_t delta = static_cast<uint64_t>(point.*field) - previous;
    PutVarint(ZigZag(static_cast<int64_t>(delta - previous_delta)), out);
    previous += delta;
    previous_delta = delta;
  }
}

bool TakeColumn(std::string_view& in, int64_t SeriesPoint::*field, std::span<SeriesPoint> points) {
  uint64_t value = 0;
  uint64_t delta = 0;
  for (SeriesPoint& point : points) {
    uint64_t encoded = 0;
    if (!TakeVarint(in, encoded)) return false;
    delta += static_cast<uint64_t>(UnZigZag(encoded));
    value += delta;
    point.*field = static_cast<int64_t>(value);
  }
  return true;
}

void PutValues(std::span<const SeriesPoint> points, std::string& out) {
  const std::size_t begin = out.size();
  out.resize(begin + points.size() * kValueBytes);
  uint64_t previous = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto bits = std::bit_cast<uint64_t>(points[i].value);
    const uint64_t difference = bits ^ previous;
    for (int byte = 0; byte < kValueBytes; ++byte) {
      out[begin + byte * points.size() + i] = static_cast<char>(difference >> (8 * byte));
    }
    previous = bits;
  }
}

bool TakeValues(std::string_view in, std::span<SeriesPoint> points) {
  if (in.size() != points.size() * kValueBytes) return false;
  uint64_t bits = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (int byte = 0; byte < kValueBytes; ++byte) {
      const auto plane = static_cast<uint8_t>(in[byte * points.size() + i]);
      bits ^= static_cast<uint64_t>(plane) << (8 * byte);
    }
    points[i].value = std::bit_cast<double>(bits);
  }
  return true;
}

void Widen(double low, double high, PointSummary& summary) {
  // NaN means that there is no bound yet. The comparisons are negated, so that they are also true
  // for NaN.
  if (!(summary.min <= low)) summary.min = low;
  if (!(summary.max >= high)) summary.max = high;
}

}  // namespace

void PointSummary::Add(const SeriesPoint& point) {
  if (count == 0) first_step = point.step;
  last_step = point.step;
  last_time_ms = point.time_ms;
  last = point.value;
  ++count;
  if (std::isnan(point.value)) {
    ++nan_count;
  } else {
    Widen(point.value, point.value, *this);
  }
  if (std::isfinite(point.value)) {
    ++finite_count;
    sum += point.value;
  }
}

void PointSummary::Add(const PointSummary& later) {
  if (count == 0) first_step = later.first_step;
  last_step = later.last_step;
  last_time_ms = later.last_time_ms;
  last = later.last;
  count += later.count;
  nan_count += later.nan_count;
  finite_count += later.finite_count;
  sum += later.sum;
  if (!std::isnan(later.min)) Widen(later.min, later.max, *this);
}

std::string EncodePoints(std::span<const SeriesPoint> points) {
  std::string out;
  out.reserve(points.size() * (kValueBytes + 4) + 10);
  PutVarint(points.size(), out);
  PutColumn(points, &SeriesPoint::step, out);
  PutColumn(points, &SeriesPoint::time_ms, out);
  PutValues(points, out);
  return out;
}

absl::StatusOr<std::vector<SeriesPoint>> DecodePoints(std::string_view bytes) {
  const auto malformed = [] { return absl::DataLossError("stored metric points are malformed"); };
  uint64_t count = 0;
  if (!TakeVarint(bytes, count) || count > bytes.size()) return malformed();
  std::vector<SeriesPoint> points(count);
  if (!TakeColumn(bytes, &SeriesPoint::step, points) ||
      !TakeColumn(bytes, &SeriesPoint::time_ms, points) || !TakeValues(bytes, points)) {
    return malformed();
  }
  return points;
}

void SortAndKeepNewest(std::vector<SeriesPoint>& points) {
  const auto later = [](const SeriesPoint& a, const SeriesPoint& b) { return a.step >= b.step; };
  if (std::ranges::adjacent_find(points, later) == points.end()) return;
  std::ranges::stable_sort(points, {}, &SeriesPoint::step);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (kept > 0 && points[kept - 1].step == points[i].step) --kept;
    points[kept++] = points[i];
  }
  points.resize(kept);
}

std::vector<SeriesPoint> MergePoints(std::span<const SeriesPoint> older,
                                     std::span<const SeriesPoint> newer) {
  std::vector<SeriesPoint> merged;
  merged.reserve(older.size() + newer.size());
  std::ranges::set_union(newer, older, std::back_inserter(merged), {}, &SeriesPoint::step,
                         &SeriesPoint::step);
  return merged;
}

}  // namespace trainyard::controller
