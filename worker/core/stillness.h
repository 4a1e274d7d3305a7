// Measures how long ranks have neither completed a step nor written anything, from the files that
// the ranks write.
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

// The results do not depend on the network, on the order in which telemetry reaches the controller,
// or on changes of the node's wall clock.
class Stillness {
 public:
  // The number of step times that are kept per rank.
  static constexpr std::size_t kStepsKept = 64;

  // Sets still_ms, quiet_ms and slow_step_ms in the reports. `steady_ms` is the time of a clock
  // that never goes back. If more than `longest_pause_ms` have passed since the last call, the
  // worker, and perhaps its ranks, were paused. The paused time does not count as time without a
  // step or output.
  void Note(Timestamp steady_ms, int64_t longest_pause_ms, std::vector<v1::AttemptReport>& reports);

 private:
  struct Seen {
    int64_t step = 0;
    std::string phase;
    Timestamp since_ms = 0;
    // activity_ms is the rank's last_activity_ms, by the node's wall clock. active_ms is the steady
    // time at which activity_ms last changed.
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
