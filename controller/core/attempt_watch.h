// Computes the events due for live attempts: starts, failures, stalls, heals, slow ranks and ends.
#ifndef TRAINYARD_CONTROLLER_CORE_ATTEMPT_WATCH_H_
#define TRAINYARD_CONTROLLER_CORE_ATTEMPT_WATCH_H_

#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/schedule/rendezvous_ports.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Judges every live attempt once. A rendezvous port for a heal is taken from `ports`.
std::vector<v1::Event> AttemptEventsDue(const ClusterState& state, const Observations& observations,
                                        const CoreOptions& options, RendezvousPorts& ports,
                                        Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_ATTEMPT_WATCH_H_
