// Computes release times from the messages of nodes and jobs, without the indexes of the state.
#ifndef TRAINYARD_TESTS_CONTROLLER_CORE_FRESH_RELEASES_H_
#define TRAINYARD_TESTS_CONTROLLER_CORE_FRESH_RELEASES_H_

#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Compares the expected ends of all jobs, and the release times of all slots, with those that are
// computed afresh. Returns a description of the first difference; "" if there is none.
std::string DifferentReleases(const ClusterState& state, const Observations& observations,
                              Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_FRESH_RELEASES_H_
