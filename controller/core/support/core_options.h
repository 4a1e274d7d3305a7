// Settings of the core.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_CORE_OPTIONS_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_CORE_OPTIONS_H_

#include <cstdint>
#include <string>

#include "proto/contract/rendezvous_range.h"

namespace trainyard::controller {

// Constant once the controller has started.
struct CoreOptions {
  // Jobs without checkpoint.dir get <checkpoint_root>/<job id>-<name>.
  std::string checkpoint_root;
  // Rendezvous ports are chosen from [first, last].
  int first_rendezvous_port = kFirstRendezvousPort;
  int last_rendezvous_port = kLastRendezvousPort;
  // Start of this cluster's ports within the range, from 0. It differs between clusters that share
  // a host and a range.
  int64_t rendezvous_offset = 0;
  // Time without a heartbeat after which a node is suspect.
  int64_t suspect_after_ms = 3000;
  // Time without a heartbeat after which a suspect node is lost if its peers have stalled too.
  int64_t lost_after_ms = 8000;
  // Time without a heartbeat after which a suspect node is lost if its gangs have no rank that
  // could show progress: all their ranks run on nodes without a heartbeat.
  int64_t lease_ms = 600000;
  // Time after the controller's start by which every reachable worker has attached. It is many
  // times the longest pause between a worker's attempts to attach (worker/rpc/attach_stream.h).
  int64_t return_within_ms = 30000;
  // Maximum time after the controller's start for which new jobs and placements wait for the
  // workers, which may know of events that the log has lost (lost_history.h). 0: no wait.
  int64_t confirm_log_ms = 0;
  // Limits for an attempt that has not trained yet: time without a sign that the node received the
  // start order, or time that its peers have been starting without the node.
  int64_t start_lease_ms = 120000;
  // Minimum time peers must have been starting before a missing node counts as lost, if earlier
  // starts of the job give a baseline.
  int64_t shortest_start_limit_ms = 30000;
  // Time within which every rank of a healing gang must complete a step. Longer for a gang with
  // long steps (heal_policy.h).
  int64_t heal_within_ms = 30000;
  // Limit on the time without any sign of life in a phase of unknown length, such as a job's first
  // load. After it the phase counts as hung. Healthy phases are shorter, although loading a
  // checkpoint of 1 TB from a slow file server takes more than an hour.
  int64_t unknown_phase_ms = 4 * 3'600'000;
  // Limit on the time without any sign of life after the gang's last step, or after some ranks have
  // exited with 0. After it the gang counts as hung. Until then the other ranks may upload the
  // result.
  int64_t finish_lease_ms = 1'800'000;
  // Time after a job's end at which it may move to the archive, and the time after which
  // disconnected nodes, which may still have output of the job, no longer delay the move.
  int64_t archive_after_ms = 3'600'000;
  int64_t archive_away_ms = 7 * 86'400'000LL;
  // Time without a heartbeat after which a lost node is removed.
  int64_t forget_lost_after_ms = 7 * 86'400'000LL;
  // A node with this many failures within the window is quarantined. quarantine_ms is the minimum
  // time before passing checks of the node can end the quarantine.
  int quarantine_failures = 2;
  int64_t evidence_window_ms = 86'400'000;
  int64_t quarantine_ms = 3'600'000;
  // Ended jobs that stay in the state, for the first pages of job lists.
  int ended_jobs_kept = 1000;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_CORE_OPTIONS_H_
