#include "controller/core/observations/rate_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard::controller {
namespace {

// Relative difference up to which two rates count as equal. Programs print rounded rates.
constexpr double kTolerance = 0.01;

bool IsBetween(double rate, double low, double high) {
  const double margin = kTolerance * std::max(std::abs(low), std::abs(high));
  return low - margin <= rate && rate <= high + margin;
}

bool Fits(double rate, const RateRange& range, double factor) {
  const double scale = factor / range.factor;
  return IsBetween(rate, range.low, range.high) ||
         IsBetween(rate, range.low * scale, range.high * scale);
}

}  // namespace

std::optional<RateChange> RateWatch::Add(const RateSource& source, int64_t step, double rate) {
  if (source.attempt < attempt_ || !std::isfinite(rate)) return std::nullopt;
  if (source.attempt > attempt_) {
    earlier_ = Run();
    current_ = {};
    attempt_ = source.attempt;
  }
  const std::size_t count = current_.points().size();
  current_.Add({step, rate, source.factor});
  const bool is_second = count == 1 && current_.points().size() == 2;
  return is_second ? Compare(source) : std::nullopt;
}

std::optional<RateChange> RateWatch::Compare(const RateSource& source) const {
  const RateCurve::Point& first = current_.points()[0];
  const RateCurve::Point& second = current_.points()[1];
  // If the program chose its checkpoint itself, assume that the program began one reporting
  // interval before its first report.
  const int64_t shown = std::max<int64_t>(0, first.step - (second.step - first.step));
  const int64_t resume_step = source.resume_step > 0 ? source.resume_step : shown;
  const bool is_fresh_start = resume_step == 0;
  if (is_fresh_start) return std::nullopt;
  const std::optional<RateRange> at_first = earlier_.At(first.step);
  const std::optional<RateRange> at_second = earlier_.At(second.step);
  if (!at_first.has_value() || !at_second.has_value()) return std::nullopt;
  if (Fits(first.rate, *at_first, source.factor) || Fits(second.rate, *at_second, source.factor)) {
    return std::nullopt;
  }
  return RateChange{resume_step, at_first->expected, first.rate};
}

void RateWatch::ContinueFrom(const RateWatch& other) {
  if (empty()) earlier_ = other.Run();
}

void RateWatch::Recover(int64_t attempt, const RateCurve& stored) {
  if (attempt_ == 0) attempt_ = attempt;
  if (attempt > attempt_) return;
  RateCurve& place = attempt == attempt_ ? current_ : earlier_;
  RateCurve joined = stored;
  if (!place.empty()) joined.Continue(place.points().front().step, place);
  place = std::move(joined);
}

RateCurve RateWatch::Run() const {
  RateCurve run = earlier_;
  if (!current_.empty()) run.Continue(current_.points().front().step, current_);
  return run;
}

}  // namespace trainyard::controller
