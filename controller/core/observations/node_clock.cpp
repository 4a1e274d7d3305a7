#include "controller/core/observations/node_clock.h"

#include <algorithm>

namespace trainyard::controller {
namespace {

// The upper bound on times from nodes, which are untrusted input. Later times could overflow in
// computations.
constexpr int64_t kLatestMs = 253'402'300'800'000;  // The year 10,000.

bool IsTime(int64_t node_ms) { return 0 < node_ms && node_ms < kLatestMs; }

}  // namespace

void NodeClock::Note(int64_t node_ms, Timestamp now) {
  if (!IsTime(node_ms)) return;
  const int64_t ahead_ms = node_ms - now;
  if (buckets_.empty() || now - buckets_.back().since_ms >= kClockBucketMs) {
    buckets_.push_back({now, ahead_ms});
  } else {
    buckets_.back().ahead_ms = std::max(buckets_.back().ahead_ms, ahead_ms);
  }
  while (now - buckets_.front().since_ms >= kClockWindowMs) buckets_.pop_front();
}

void NodeClock::Shift(int64_t step_ms) {
  for (Bucket& bucket : buckets_) {
    bucket.since_ms += step_ms;
    bucket.ahead_ms -= step_ms;
  }
}

std::optional<int64_t> NodeClock::AheadMs() const {
  if (buckets_.empty()) return std::nullopt;
  return std::ranges::max_element(buckets_, {}, &Bucket::ahead_ms)->ahead_ms;
}

Timestamp CorrectedTime(int64_t time_ms, std::optional<int64_t> ahead_ms, Timestamp now) {
  if (!ahead_ms.has_value() || !IsTime(time_ms)) return 0;
  return std::clamp<int64_t>(time_ms - *ahead_ms, 1, std::max<int64_t>(1, now));
}

}  // namespace trainyard::controller
