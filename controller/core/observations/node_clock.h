// Offset between a node's clock and the controller's, derived from the times in the node's
// messages.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_NODE_CLOCK_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_NODE_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "proto/support/clock.h"

namespace trainyard::controller {

// A message with a delay of d milliseconds shows an offset that is d too small, so the largest
// recent offset is the most accurate. A node's clock that is set forward takes effect immediately;
// one that is set back takes effect within kClockWindowMs.
class NodeClock {
 public:
  // Records a message with this time of the node's clock. A time of 0 (from an older release) or
  // outside any valid range is ignored.
  void Note(int64_t node_ms, Timestamp now);
  // Milliseconds by which the node's clock is ahead of the controller's; nullopt before any
  // message.
  std::optional<int64_t> AheadMs() const;
  // Adjusts to a step of the controller's clock by `step_ms`, which reduces the node's offset by
  // `step_ms`.
  void Shift(int64_t step_ms);

 private:
  // Largest offset of the messages within a few seconds. Bounds memory regardless of the message
  // rate.
  struct Bucket {
    Timestamp since_ms = 0;
    int64_t ahead_ms = 0;
  };
  std::deque<Bucket> buckets_;
};

inline constexpr int64_t kClockBucketMs = 5000;
inline constexpr int64_t kClockWindowMs = 60'000;

// Converts `time_ms` of a node's clock to the controller's clock. At most `now`, the time of
// receipt. 0 if the offset is unknown or the time is outside any valid range.
Timestamp CorrectedTime(int64_t time_ms, std::optional<int64_t> ahead_ms, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_NODE_CLOCK_H_
