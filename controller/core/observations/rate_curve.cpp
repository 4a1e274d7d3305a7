#include "controller/core/observations/rate_curve.h"

#include <algorithm>
#include <utility>

namespace trainyard::controller {
namespace {

using Point = RateCurve::Point;

// Beyond the last point, the curve is extended by at most this many times the distance between its
// last two points.
constexpr int64_t kLongestReach = 16;

double RateOnLine(const Point& from, const Point& to, int64_t step) {
  const double slope = (to.rate - from.rate) / static_cast<double>(to.step - from.step);
  return from.rate + slope * static_cast<double>(step - from.step);
}

RateRange RangeOf(double one, double other, double expected, const Point& of) {
  return {std::min(one, other), std::max(one, other), expected, of.factor};
}

}  // namespace

void RateCurve::Add(const Point& point) {
  if (!points_.empty() && point.step <= points_.back().step) return;
  // The previous point is no longer one of the newest two, so it must now keep the stride.
  const std::size_t count = points_.size();
  if (count >= 3 && points_[count - 2].step - points_[count - 3].step < stride_) {
    points_.erase(points_.end() - 2);
  }
  points_.push_back(point);
  if (points_.size() > kMaxPoints) Thin();
}

void RateCurve::Thin() {
  const int64_t span = points_.back().step - points_.front().step;
  // The stride is rounded up, so that at most half of the points are kept.
  constexpr auto kMost = static_cast<int64_t>(kMaxPoints);
  stride_ = 2 * ((span + kMost - 1) / kMost);
  const std::size_t count = points_.size();
  std::vector<Point> kept;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_newest = i + 2 >= count;
    if (is_newest || kept.empty() || points_[i].step - kept.back().step >= stride_) {
      kept.push_back(points_[i]);
    }
  }
  points_ = std::move(kept);
}

void RateCurve::Continue(int64_t step, const RateCurve& newer) {
  while (!points_.empty() && points_.back().step >= step) points_.pop_back();
  for (const Point& point : newer.points_) Add(point);
}

std::optional<RateRange> RateCurve::At(int64_t step) const {
  const auto after = std::ranges::lower_bound(points_, step, {}, &Point::step);
  if (after != points_.end()) {
    if (after->step == step) return RangeOf(after->rate, after->rate, after->rate, *after);
    if (after == points_.begin()) return std::nullopt;
    const Point& before = *(after - 1);
    return RangeOf(before.rate, after->rate, RateOnLine(before, *after, step), before);
  }
  if (points_.size() < 2) return std::nullopt;
  const Point& last = points_.back();
  const Point& before = points_[points_.size() - 2];
  if (step - last.step > kLongestReach * (last.step - before.step)) return std::nullopt;
  const double twice = last.rate + 2 * (RateOnLine(before, last, step) - last.rate);
  return RangeOf(last.rate, twice, last.rate, last);
}

}  // namespace trainyard::controller
