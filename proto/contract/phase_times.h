// Measures the time that a rank spends in each of its phases.
#ifndef TRAINYARD_PROTO_CONTRACT_PHASE_TIMES_H_
#define TRAINYARD_PROTO_CONTRACT_PHASE_TIMES_H_

#include <array>
#include <optional>

#include "proto/contract/phase.h"

namespace trainyard {

// The time per phase, for the fields of a `rank` record. Trainyard's trainer measures its own
// times. For other programs, which write only `phase` records, the worker measures the times. All
// times passed to one object must be milliseconds of the same clock. Used by one thread.
class PhaseTimes {
 public:
  // The phase is unknown until the first Enter.
  PhaseTimes() = default;
  PhaseTimes(Phase phase, double now_ms) : phase_(phase), since_ms_(now_ms) {}

  // Ends the current phase and begins `phase`, which may be the same. If the clock was set back,
  // adds no time to the ended phase.
  void Enter(Phase phase, double now_ms);

  std::optional<Phase> phase() const { return phase_; }

  // Returns the total seconds that the rank has spent in `phase`. The current stay in a phase
  // counts only after it has ended.
  double Seconds(Phase phase) const;

 private:
  std::optional<Phase> phase_;
  double since_ms_ = 0;
  // Indexed by Phase.
  std::array<double, kPhases.size()> ended_ms_{};
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_PHASE_TIMES_H_
