// The controller's own scheduler under a recorded load.
#ifndef TRAINYARD_TESTS_SIMULATION_REPLAY_CORE_POLICY_H_
#define TRAINYARD_TESTS_SIMULATION_REPLAY_CORE_POLICY_H_

#include <memory>
#include <vector>

#include "tests/simulation/replay/replay.h"

namespace trainyard::replay {

// Runs the jobs of the replay as jobs of a simulated controller: every start, end and preemption is
// an event that Apply takes, and every pass is a call of MakeSchedule. A queue of the trace is a
// queue with one share. A job of more GPUs than a node has gets equal parts of several nodes.
std::unique_ptr<Policy> MakeCorePolicy(int nodes, int gpus_per_node);

}  // namespace trainyard::replay

#endif  // TRAINYARD_TESTS_SIMULATION_REPLAY_CORE_POLICY_H_
