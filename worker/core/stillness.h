// Time since ranks last completed a step or wrote anything, as observed by the worker in their
// files.
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

// Independent of the node's wall clock, which may be set, of the network, and of the order in which
// stored telemetry reaches the controller.
class Stillness {
 public:
  // Step times kept per rank.
  static constexpr std::size_t kStepsKept = 64;

  // Fills in still_ms, quiet_ms and slow_step_ms. `steady_ms` is the time of a clock that never
  // goes back. A pause since the last call that is longer than `longest_pause_ms` does not count as
  // time without a step or output, because the worker, and perhaps its ranks, were paused.
  void Note(Timestamp steady_ms, int64_t longest_pause_ms, std::vector<v1::AttemptReport>& reports);

 private:
  struct Seen {
    int64_t step = 0;
    std::string phase;
    Timestamp since_ms = 0;
    // last_activity_ms of the rank, by the node's clock, and the steady time of its last change.
    int64_t activity_ms = 0;
    Timestamp active_ms = 0;
    // True when `since_ms` is the time of a step, not of a phase change or the first reading.
    bool began_with_step = false;
    std::deque<int64_t> step_ms;
  };
  static void NoteRank(Timestamp steady_ms, v1::RankReport& rank, Seen& seen);

  std::map<RankKey, Seen> seen_;
  Timestamp noted_ms_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_STILLNESS_H_
