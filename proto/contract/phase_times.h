// Time spent by a rank in each of its phases.
#ifndef TRAINYARD_PROTO_CONTRACT_PHASE_TIMES_H_
#define TRAINYARD_PROTO_CONTRACT_PHASE_TIMES_H_

#include <array>
#include <optional>

#include "proto/contract/phase.h"

namespace trainyard {

// Time per phase, for the fields of a `rank` record. The trainer keeps its own sums; the worker
// keeps them for programs that write only `phase` records. Times are in milliseconds of any clock,
// always the same one. Used by one thread.
class PhaseTimes {
 public:
  // The phase is unknown before the first Enter.
  PhaseTimes() = default;
  PhaseTimes(Phase phase, double now_ms) : phase_(phase), since_ms_(now_ms) {}

  // Ends the current phase and begins `phase`, possibly the same one. If the clock was set back, no
  // time is added.
  void Enter(Phase phase, double now_ms);

  // The current phase of the rank.
  std::optional<Phase> phase() const { return phase_; }

  // Seconds spent in completed visits of a phase.
  double Seconds(Phase phase) const;

 private:
  std::optional<Phase> phase_;
  double since_ms_ = 0;
  // Indexed by Phase.
  std::array<double, kPhases.size()> ended_ms_{};
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_PHASE_TIMES_H_
