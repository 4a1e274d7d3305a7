// The learning rate of a run by step, in a bounded number of points.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_RATE_CURVE_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_RATE_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace trainyard::controller {

// The rates that a schedule may have at a step, derived from the rates at other steps.
struct RateRange {
  double low = 0;
  double high = 0;
  double expected = 0;  // The most probable rate.
  double factor = 1;    // The factor of the attempt that reported the rates.
};

class RateCurve {
 public:
  // The maximum number of points. A longer curve keeps points at larger distances.
  static constexpr std::size_t kMaxPoints = 128;

  struct Point {
    int64_t step = 0;
    double rate = 0;
    double factor = 1;  // Attempt.lr_factor of the attempt that reported the rate.
  };

  // Appends a point. Ignores steps that are not after the newest one.
  void Add(const Point& point);

  // Removes the points from `step` on, and appends the points of `newer`.
  void Continue(int64_t step, const RateCurve& newer);

  // Returns the possible rates at the step. Between two points, the rate is between their rates.
  // After the last point, the slope of the curve may at most double. Returns nullopt if the step is
  // too far from the points.
  std::optional<RateRange> At(int64_t step) const;

  bool empty() const { return points_.empty(); }
  const std::vector<Point>& points() const { return points_; }

 private:
  void Thin();

  // Sorted by step. Adjacent points are at least stride_ apart. Only the newest two may be closer,
  // because they give the slope at the end.
  std::vector<Point> points_;
  int64_t stride_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_RATE_CURVE_H_
