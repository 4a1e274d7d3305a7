// The slots that queues and users hold, counted from the nodes alone.
#ifndef TRAINYARD_TESTS_SIMULATION_CHECKERS_HELD_SLOTS_H_
#define TRAINYARD_TESTS_SIMULATION_CHECKERS_HELD_SLOTS_H_

#include <cstdint>

#include <map>
#include <string>
#include <utility>

#include "controller/core/state/cluster_state.h"
#include "controller/core/state/job_class.h"

namespace trainyard::simulation {

// By queue and user. The user "" stands for the whole queue. A slot of an attempt whose end its
// node has not confirmed is not held.
using HeldSlots = std::map<std::pair<std::string, std::string>, int64_t>;

HeldSlots CountHeldSlots(const controller::ClusterState& state, v1::DeviceKind kind);

// Returns true if the queue and the user may hold the slots of one more job of the class.
bool MayHoldOneMore(const controller::ClusterState& state, const HeldSlots& held,
                    const controller::JobClass& job_class);

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_CHECKERS_HELD_SLOTS_H_
