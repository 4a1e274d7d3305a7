// Settings of the core.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_CORE_OPTIONS_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_CORE_OPTIONS_H_

#include <cstdint>
#include <string>

namespace trainyard::controller {

// Constant after the controller has started.
struct CoreOptions {
  // Jobs without checkpoint.dir get <checkpoint_root>/<job id>-<name>.
  std::string checkpoint_root;
  // Rendezvous ports are taken from [first, last]; below Linux's ephemeral range.
  int first_rendezvous_port = 20000;
  int last_rendezvous_port = 29999;
  // Offset in the range at which this cluster begins, from 0: clusters that share a host and a
  // range must not all begin at the same port.
  int64_t rendezvous_offset = 0;
  // Time without a heartbeat after which a node is suspect.
  int64_t suspect_after_ms = 3000;
  // Time without a heartbeat after which a suspect node is lost if its peers have stalled too.
  int64_t lost_after_ms = 8000;
  // Time without a heartbeat after which a suspect node is lost when no rank of its gangs could
  // show progress: all of those ranks run on nodes without a heartbeat.
  int64_t lease_ms = 600000;
  // Time after the controller's start in which every worker that can be reached has attached: many
  // times the longest pause between its tries (worker/rpc/attach_stream.h).
  int64_t return_within_ms = 30000;
  // Time after the controller's start for which new jobs and placements wait for the workers, which
  // may have seen events that the log has lost (lost_history.h); 0: they do not wait.
  int64_t confirm_log_ms = 0;
  // The same for an attempt that has not trained yet: time without a sign that the node took the
  // order to start, or in which its peers waited in their start.
  int64_t start_lease_ms = 120000;
  // Least time that peers must have waited in their start when earlier starts of the job tell how
  // long one takes.
  int64_t shortest_start_limit_ms = 30000;
  // Time within which every rank of a gang that heals has to make a step; longer for a gang with
  // long steps (heal_policy.h).
  int64_t heal_within_ms = 30000;
  // Time without any sign of life after which a phase hangs whose length nobody knows, such as the
  // first load of a job. Longer than a healthy one: a checkpoint of 1 TB from a slow file server
  // takes more than an hour.
  int64_t unknown_phase_ms = 4 * 3'600'000;
  // Time without any sign of life after which a gang hangs that has made its last step, or of which
  // ranks have exited with 0. Others may still upload the result.
  int64_t finish_lease_ms = 1'800'000;
  // Time after its end at which a job may leave the state for the archive, and the time for which
  // nodes that are away are waited for; they may have output of it.
  int64_t archive_after_ms = 3'600'000;
  int64_t archive_away_ms = 7 * 86'400'000LL;
  // Time without a heartbeat after which a lost node is removed.
  int64_t forget_lost_after_ms = 7 * 86'400'000LL;
  // Failures of a node within this time that quarantine it, and the least length of a quarantine:
  // from its end on the node's checks count.
  int quarantine_failures = 2;
  int64_t evidence_window_ms = 86'400'000;
  int64_t quarantine_ms = 3'600'000;
  // Ended jobs that stay in the state: those that pages show first.
  int ended_jobs_kept = 1000;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_CORE_OPTIONS_H_
