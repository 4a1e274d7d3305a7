#include "controller/core/observations/first_step.h"

#include <algorithm>

namespace trainyard::controller {

std::optional<int64_t> FirstStepShown(const v1::Attempt& attempt,
                                      const AttemptObservation& observed,
                                      Timestamp observed_since_ms) {
  const auto [first, second] = observed.first_steps;
  const bool is_open =
      attempt.first_step() == 0 && second > 0 && observed_since_ms <= attempt.placed_time_ms();
  if (!is_open) return std::nullopt;
  const int64_t before = std::max<int64_t>(0, first - (second - first));
  // A trainer may start from an older checkpoint than the attempt's, but never from a newer one.
  const bool is_new = attempt.resume_step() == 0 ? before != 0 : first <= attempt.resume_step();
  if (!is_new) return std::nullopt;
  return before + 1;
}

}  // namespace trainyard::controller
