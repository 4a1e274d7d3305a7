// A node's clock against the controller's, from the times in its messages.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_NODE_CLOCK_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_NODE_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "proto/support/clock.h"

namespace trainyard::controller {

// A message that was on its way for d milliseconds shows an offset that is d too small: of the
// newest ones the largest offset is the truest. A clock of the node that is set forward counts at
// once, one that is set back within kClockWindowMs.
class NodeClock {
 public:
  // A message with this time of the node's clock has come. A time of 0 (an older release) and one
  // that no clock shows are left out.
  void Note(int64_t node_ms, Timestamp now);
  // Milliseconds by which the node's clock is ahead of the controller's; nullopt before a message.
  std::optional<int64_t> AheadMs() const;
  // The controller's clock was set by `step_ms`: the node's clock is ahead by so much less.
  void Shift(int64_t step_ms);

 private:
  // The largest offset of the messages of some seconds, so that the number of messages bounds
  // nothing.
  struct Bucket {
    Timestamp since_ms = 0;
    int64_t ahead_ms = 0;
  };
  std::deque<Bucket> buckets_;
};

inline constexpr int64_t kClockBucketMs = 5000;
inline constexpr int64_t kClockWindowMs = 60'000;

// `time_ms` of a node's clock by the controller's: not later than `now`, when it is received. 0
// when the offset is not known or no clock shows such a time.
Timestamp CorrectedTime(int64_t time_ms, std::optional<int64_t> ahead_ms, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_NODE_CLOCK_H_
