// Handles an event log that lacks events known to workers or to other stores. Events are lost if an
// older copy replaced the log (a file copy or a disk snapshot), or if the log's write-ahead log was
// removed.
//
// Each store and each worker keeps the newest mark of the log (v1::LogMark). A mark that is not in
// the log proves that events are lost. The loss is then handled like a restore: job and attempt
// numbers that may have been used are never assigned again. Ranks that are missing from the log
// continue unmanaged, and their files are not removed.
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

// INVALID_ARGUMENT: the mark is implausibly far ahead. After each loss that a worker reports, the
// job ids up to the mark are skipped. This check limits the skip to 10^9 ids, so that a faulty
// worker cannot use up all job ids.
absl::Status CheckLogMark(const ClusterState& state, const v1::LogMark& mark);

// Returns true if the log has already recorded that the mark's event was lost. In this case the job
// ids up to the mark are never assigned again.
bool IsRecorded(const ClusterState& state, const v1::LogMark& mark);

// Returns true if no restore and no recorded loss explains the mark, whose event is not in the log:
// numbers of the lost jobs could be assigned again.
bool IsUnexplainedLoss(const ClusterState& state, const v1::LogMark& mark);

// Returns FAILED_PRECONDITION with the cause and the next step, for
// CoreOptions::stop_on_lost_events.
absl::Status LostEventsError(const ReportLostEvents& report);

// Returns the EventsLost event, or no event if the loss is already recorded.
std::vector<v1::Event> DecideLostEvents(const ClusterState& state, const ReportLostEvents& request,
                                        Timestamp now);

// Returns true if the attempt may be missing from the log. The ranks of such an attempt continue,
// and its files are kept.
bool IsUnmanaged(const ClusterState& state, const AttemptKey& key);

// Pauses jobs that have unmanaged attempts on the worker, because a new attempt would train the
// same job at the same time. A job with a newer live attempt is not paused.
std::vector<v1::Event> PausesForUnmanaged(const ClusterState& state, const v1::Hello& hello,
                                          Timestamp now);

// Returns false from the controller's start until all workers have attached, for at most
// CoreOptions::confirm_log_ms. If the whole data directory was replaced by an older copy, only the
// workers' marks show that events are lost.
bool IsLogConfirmed(const ClusterState& state, const Observations& observations,
                    const CoreOptions& options, Timestamp now);

// Returns true if jobs may be placed. False until the log is confirmed. After a loss, also false
// until all nodes have attached, for at most CoreOptions::return_within_ms, because unmanaged ranks
// may use slots that look free.
bool MayPlace(const ClusterState& state, const Observations& observations,
              const CoreOptions& options, Timestamp now);

// Returns one sentence for each loss of the last seven days, with its cause, its consequence and
// the next step.
std::vector<std::string> LossWarnings(const ClusterState& state, Timestamp now);

// Returns the cause, the consequence and the next step of one loss.
std::string LossText(const v1::HistoryLoss& loss);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_LOST_HISTORY_H_
