// The loss guard: what follows a loss that is not finite or spikes.
//
// The controller decides once for all ranks. A rollback is an event: it ends the attempt, marks the
// checkpoints that the spike reached, and adds to what the next attempts skip. So it survives every
// restart, and counts against guard.max_rollbacks and not against the restart budget.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_LOSS_GUARD_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_LOSS_GUARD_H_

#include <optional>
#include <string>
#include <vector>

#include "controller/core/observations/loss_watch.h"
#include "controller/core/observations/observations.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// The trouble that an alert of a trainer names: its codes nan_loss and nan_gradient.
std::optional<LossFinding> FindingOf(const v1::AlertRecord& alert);

// Adds the losses of a batch that ObserveTelemetry has seen to those of its job, and returns a
// request for each to which the loss guard objects. Losses of older attempts are ignored.
std::vector<ReceiveTelemetry> WatchLosses(const ClusterState& state, const std::string& node_id,
                                          const v1::TelemetryBatch& batch,
                                          Observations& observations);

// Events that the finding causes: an alert, and what guard.policy asks for. Empty for a step on
// which the guard has acted, for an older attempt, and for a rank that was not placed on the node
// that reports it. `event` has the time and the actor.
std::vector<v1::Event> DecideLoss(const JobEntry& entry, const ReceiveTelemetry& request,
                                  const LossFinding& finding, v1::Event event);

// True while the exit of a rank whose loss was not finite must not be judged yet: the alert that
// names the step and its samples may be on its way.
bool AwaitsLossAlert(const JobEntry& entry, const v1::RankExited& exited, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_LOSS_GUARD_H_
