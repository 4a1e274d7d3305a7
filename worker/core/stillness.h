// Measures how long ranks have neither completed a step nor written anything. The worker reads this
// from the ranks' files.
#ifndef TRAINYARD_WORKER_CORE_STILLNESS_H_
#define TRAINYARD_WORKER_CORE_STILLNESS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "proto/support/clock.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/attempts.h"

namespace trainyard::worker {

// The results do not depend on the node's wall clock, which may be set, on the network, or on the
// order in which stored telemetry reaches the controller.
class Stillness {
 public:
  // The number of step times that are kept per rank.
  static constexpr std::size_t kStepsKept = 64;

  // Sets still_ms, quiet_ms and slow_step_ms in the reports. `steady_ms` is the time of a clock
  // that never goes back. If the time since the last call is longer than `longest_pause_ms`, the
  // worker, and perhaps its ranks, were paused. This time then does not count as time without a
  // step or output.
  void Note(Timestamp steady_ms, int64_t longest_pause_ms, std::vector<v1::AttemptReport>& reports);

 private:
  struct Seen {
    int64_t step = 0;
    std::string phase;
    Timestamp since_ms = 0;
    // The rank's last_activity_ms, by the node's wall clock, and the steady time at which it last
    // changed.
    int64_t activity_ms = 0;
    Timestamp active_ms = 0;
    // True if `since_ms` is the time of a step. False if it is the time of a phase change or of the
    // first reading.
    bool began_with_step = false;
    std::deque<int64_t> step_ms;
  };
  static void NoteRank(Timestamp steady_ms, v1::RankReport& rank, Seen& seen);

  std::map<RankKey, Seen> seen_;
  Timestamp noted_ms_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_STILLNESS_H_
