// Policies with which the scheduler is compared.
#ifndef TRAINYARD_TESTS_SIMULATION_REPLAY_REFERENCE_POLICIES_H_
#define TRAINYARD_TESTS_SIMULATION_REPLAY_REFERENCE_POLICIES_H_

#include "tests/simulation/replay/replay.h"

namespace trainyard::replay {

// No job overtakes another.
class FirstComeFirstServed final : public Policy {
 public:
  void Pass(ReplayState& state) override;
};

// EASY backfill (Lifka 1995, doi 10.1007/3-540-60153-8_35): the first job that does not fit, the
// head, is promised the earliest time at which it fits if the running jobs end at their limits. A
// later job starts if it ends before that time, or if the head fits at that time beside it. The
// promise counts GPUs node by node. Jobs without a limit are assumed to run for 60 days.
class EasyBackfill final : public Policy {
 public:
  void Pass(ReplayState& state) override;
};

}  // namespace trainyard::replay

#endif  // TRAINYARD_TESTS_SIMULATION_REPLAY_REFERENCE_POLICIES_H_
