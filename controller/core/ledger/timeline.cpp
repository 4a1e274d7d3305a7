#include "controller/core/ledger/timeline.h"

#include <algorithm>
#include <iterator>

namespace trainyard::controller {

bool HoldsSlots(v1::LedgerPhase phase) {
  return phase != v1::LEDGER_PHASE_QUEUED && phase != v1::LEDGER_PHASE_PAUSED;
}

void Timeline::AddUntil(v1::LedgerPhase phase, int64_t attempt_number, int slots, Timestamp end) {
  if (end <= at_) return;
  v1::LedgerSpan span;
  span.set_phase(phase);
  span.set_attempt(attempt_number);
  span.set_begin_ms(at_);
  span.set_end_ms(end);
  span.set_slots(HoldsSlots(phase) ? slots : 0);
  spans_.push_back(span);
  at_ = end;
}

void Timeline::AddStandbys(int64_t slots, Timestamp begin, Timestamp end) {
  if (slots > 0 && begin < end) standbys_.push_back({begin, end, slots});
}

Timeline::Range Timeline::RangeOf(const v1::LedgerSpan& span) const {
  const auto after = std::ranges::upper_bound(mixed_, span.begin_ms(), {}, &Range::begin);
  if (after != mixed_.begin()) {
    const Range& mixed = *std::prev(after);
    if (span.end_ms() <= mixed.end) return mixed;
  }
  return {span.begin_ms(), span.end_ms()};
}

}  // namespace trainyard::controller
