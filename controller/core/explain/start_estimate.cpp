#include "controller/core/explain/start_estimate.h"

#include <algorithm>

namespace trainyard::controller {
namespace {

// The limits of the range around an estimated start, as multiples of the estimated wait.
struct RangeOfWait {
  double least = 0;
  double most = 0;
};

RangeOfWait RangeFor(EndBasis basis) {
  switch (basis) {
    case EndBasis::kPredicted:
      return {0.75, 1.25};
    case EndBasis::kUsual:
      return {0.5, 1.5};
    case EndBasis::kLimit:
      return {0, 1};
  }
  return {0, 1};
}

}  // namespace

void SetEstimate(const ForecastedStarts& starts, int64_t job_id, Timestamp now,
                 v1::PendingReason& reason) {
  const auto found = starts.find(job_id);
  if (found == starts.end()) return;
  const RangeOfWait range = RangeFor(found->second.basis);
  const auto wait_ms = static_cast<double>(std::max<int64_t>(0, found->second.time - now));
  reason.set_estimated_start_ms(now + static_cast<int64_t>(wait_ms));
  reason.set_estimated_earliest_ms(now + static_cast<int64_t>(range.least * wait_ms));
  reason.set_estimated_latest_ms(now + static_cast<int64_t>(range.most * wait_ms));
}

}  // namespace trainyard::controller
