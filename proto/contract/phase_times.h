// Time that a rank has spent in each of its phases.
#ifndef TRAINYARD_PROTO_CONTRACT_PHASE_TIMES_H_
#define TRAINYARD_PROTO_CONTRACT_PHASE_TIMES_H_

#include <array>
#include <optional>

#include "proto/contract/phase.h"

namespace trainyard {

// The sums behind the fields of a `rank` record: the trainer keeps its own, and the worker those of
// a program that writes only `phase` records. Times are milliseconds of any one clock. One thread.
class PhaseTimes {
 public:
  // No phase is known before the first Enter.
  PhaseTimes() = default;
  PhaseTimes(Phase phase, double now_ms) : phase_(phase), since_ms_(now_ms) {}

  // Ends the present phase and begins `phase`, perhaps the same one. A clock that was set back adds
  // nothing.
  void Enter(Phase phase, double now_ms);

  // The phase that the rank is in.
  std::optional<Phase> phase() const { return phase_; }

  // Seconds spent in a phase, without the present visit.
  double Seconds(Phase phase) const;

 private:
  std::optional<Phase> phase_;
  double since_ms_ = 0;
  // By value of Phase.
  std::array<double, kPhases.size()> ended_ms_{};
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_PHASE_TIMES_H_
