// Detects a learning rate that changes at a resume, although the schedule of the run would not have
// changed it.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_RATE_WATCH_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_RATE_WATCH_H_

#include <cstdint>
#include <optional>

#include "controller/core/observations/rate_curve.h"

namespace trainyard::controller {

struct RateChange {
  int64_t step = 0;  // The step from which the attempt resumed.
  double before = 0;
  double after = 0;
};

// The attempt that reports a rate.
struct RateSource {
  int64_t attempt = 0;
  int64_t resume_step = 0;  // 0 if unknown.
  double factor = 1;        // Attempt.lr_factor; 1 if not set.
};

// The learning rates of one job. The rates are not durable: after a restart, the controller reads
// them from the metric store.
class RateWatch {
 public:
  // Adds the rate that an attempt reports. Returns the change if the first two rates of the attempt
  // do not fit the rates of earlier attempts. One rate proves nothing, because some programs report
  // 0 at the first step after a resume. Rates are compared both with and without the factor of the
  // attempt, because not every program applies it. Ignores older attempts.
  std::optional<RateChange> Add(const RateSource& source, int64_t step, double rate);

  // Adopts the rates of the run whose checkpoint the job continues. No effect if the job has
  // reported a rate.
  void ContinueFrom(const RateWatch& other);

  // Adds rates from before the controller's start. Rates observed since then take precedence.
  void Recover(int64_t attempt, const RateCurve& stored);

  // True if there is no rate yet.
  bool empty() const { return earlier_.empty() && current_.empty(); }
  // The rates of the whole run, without the rates that a later attempt replaced.
  RateCurve Run() const;

 private:
  std::optional<RateChange> Compare(const RateSource& source) const;

  int64_t attempt_ = 0;
  RateCurve earlier_;  // The rates of attempts before attempt_.
  RateCurve current_;  // The rates of attempt_.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_RATE_WATCH_H_
