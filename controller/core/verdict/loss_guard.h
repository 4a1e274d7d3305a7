// The loss guard: reacts to a loss that is not finite or that spikes.
//
// The controller decides once for all ranks. A rollback is an event, so it survives every restart
// of the controller. A rollback ends the attempt, marks the checkpoints after the spike, and
// extends the list of samples that later attempts skip. A rollback counts against
// guard.max_rollbacks, not against the restart budget.
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

// Returns the finding if the trainer's alert has the code nan_loss or nan_gradient. Otherwise
// returns nullopt.
std::optional<LossFinding> FindingOf(const v1::AlertRecord& alert);

// Adds the losses of a batch to the job's LossWatch and returns a request for each loss that
// violates the rules of the loss guard. ObserveTelemetry must be called with the batch first.
// Ignores losses of older attempts.
std::vector<ReceiveTelemetry> WatchLosses(const ClusterState& state, const std::string& node_id,
                                          const v1::TelemetryBatch& batch,
                                          Observations& observations);

// Returns the events for a finding: an alert, and the action that guard.policy sets. Returns no
// events if the guard has already acted on the step, if the attempt is not the newest attempt, or
// if the rank was not placed on the reporting node. `event` provides the time and the actor.
std::vector<v1::Event> DecideLoss(const JobEntry& entry, const ReceiveTelemetry& request,
                                  const LossFinding& finding, v1::Event event);

// Returns true if the exit cannot be judged yet: the rank's loss was not finite, and the alert with
// the step and its samples may still arrive.
bool AwaitsLossAlert(const JobEntry& entry, const v1::RankExited& exited, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_LOSS_GUARD_H_
