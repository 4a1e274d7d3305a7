// The limits of preemption in simulations.
#ifndef TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_PREEMPTION_H_
#define TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_PREEMPTION_H_

#include "controller/core/support/preemption_limits.h"

namespace trainyard::simulation {

// The limits of preemption in runs with contested queues: short enough for a run of minutes to
// contain several preemptions.
inline constexpr controller::PreemptionLimits kSimulatedPreemption{
    .wait_ms = 8'000, .run_ms = 6'000, .per_window = 3, .window_ms = 300'000};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_PREEMPTION_H_
