// Estimates the offset between a node's clock and the controller's clock from the times in the
// node's messages.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_NODE_CLOCK_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_NODE_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "proto/support/clock.h"

namespace trainyard::controller {

// A message delayed by d milliseconds shows an offset that is d too small. Therefore the largest
// recent offset is the most accurate offset. If the node's clock is set forward, the offset changes
// immediately. If the clock is set back, the offset changes within kClockWindowMs.
class NodeClock {
 public:
  // Records a message that contains this time of the node's clock. Ignores a time of 0 (from an
  // older release) and a time outside the valid range.
  void Note(int64_t node_ms, Timestamp now);
  // Returns the milliseconds by which the node's clock is ahead of the controller's clock. Returns
  // nullopt before any message was recorded.
  std::optional<int64_t> AheadMs() const;
  // Must be called when the controller's clock is set by `step_ms`. Reduces the node's offset by
  // `step_ms`.
  void Shift(int64_t step_ms);

 private:
  // The largest offset of the messages within a few seconds. Buckets limit memory regardless of the
  // message rate.
  struct Bucket {
    Timestamp since_ms = 0;
    int64_t ahead_ms = 0;
  };
  std::deque<Bucket> buckets_;
};

inline constexpr int64_t kClockBucketMs = 5000;
inline constexpr int64_t kClockWindowMs = 60'000;

// Converts `time_ms` from a node's clock to the controller's clock. The result is at most `now`,
// the time of receipt. Returns 0 if the offset is unknown or the time is outside the valid range.
Timestamp CorrectedTime(int64_t time_ms, std::optional<int64_t> ahead_ms, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_NODE_CLOCK_H_
