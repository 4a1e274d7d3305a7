// Handling of an event log that is older than events known to others: the newest log was replaced
// by a file copy or a disk snapshot, or its write-ahead log was removed.
//
// Each store and each worker keeps the newest mark of the log (v1::LogMark). A mark that the log
// does not have proves that events are lost. As after a restore, lost job and attempt numbers are
// never assigned again, ranks that are missing from the log continue unmanaged, and their files are
// not removed.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_LOST_HISTORY_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_LOST_HISTORY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/observations/observations.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// INVALID_ARGUMENT for a mark that no cluster can have reached. This keeps a worker from using up
// the job ids: each loss that it reports skips at most 10^9 of them.
absl::Status CheckLogMark(const ClusterState& state, const v1::LogMark& mark);

// True if the log has already recorded the loss of the mark's event. The job ids up to the mark are
// then never assigned again.
bool IsRecorded(const ClusterState& state, const v1::LogMark& mark);

// The EventsLost event; none if the loss is already recorded.
std::vector<v1::Event> DecideLostEvents(const ClusterState& state, const ReportLostEvents& request,
                                        Timestamp now);

// True for an attempt that may be missing from the log. Its ranks are left running, and its files
// are kept.
bool IsUnmanaged(const ClusterState& state, const AttemptKey& key);

// Pauses jobs with unmanaged attempts on the worker, unless a newer attempt is live. Otherwise a
// second gang would train the same job.
std::vector<v1::Event> PausesForUnmanaged(const ClusterState& state, const v1::Hello& hello,
                                          Timestamp now);

// False after the controller's start until all workers have attached, for at most
// CoreOptions::confirm_log_ms. Only workers can show that the whole data directory is an older
// copy.
bool IsLogConfirmed(const ClusterState& state, const Observations& observations,
                    const CoreOptions& options, Timestamp now);

// False while the log is not confirmed. After a loss, also false until all nodes have attached, for
// at most CoreOptions::return_within_ms: slots that look free may be in use by unmanaged ranks.
bool MayPlace(const ClusterState& state, const Observations& observations,
              const CoreOptions& options, Timestamp now);

// One sentence per loss of the last seven days, with cause, consequence and next step.
std::vector<std::string> LossWarnings(const ClusterState& state, Timestamp now);

// Cause, consequence and next step of one loss.
std::string LossText(const v1::HistoryLoss& loss);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_LOST_HISTORY_H_
