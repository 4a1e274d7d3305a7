// Settings of the core.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_CORE_OPTIONS_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_CORE_OPTIONS_H_

#include <cstdint>
#include <string>

#include "controller/core/support/gpu_price.h"
#include "controller/core/support/preemption_limits.h"
#include "proto/contract/leader_term.h"
#include "proto/contract/rendezvous_range.h"

namespace trainyard::controller {

// The maximum of CoreOptions::promised_heads, because each head makes passes slower.
inline constexpr int kMostPromisedHeads = 8;

// Does not change after the controller has started.
struct CoreOptions {
  // The checkpoint directory of a job without checkpoint.dir is <checkpoint_root>/<job id>-<name>.
  std::string checkpoint_root;
  // Rendezvous ports are chosen from the closed range [first, last].
  int first_rendezvous_port = kFirstRendezvousPort;
  int last_rendezvous_port = kLastRendezvousPort;
  // The offset of this cluster's first port from the start of the range. Clusters that share a host
  // and a range have different offsets.
  int64_t rendezvous_offset = 0;
  // A node is suspect after this time without a heartbeat.
  int64_t suspect_after_ms = 3000;
  // A suspect node is lost after this time without a heartbeat, if its peers have stalled as well.
  int64_t lost_after_ms = 8000;
  // A suspect node is lost after this time without a heartbeat if all ranks of its gangs are on
  // nodes without a heartbeat, so that no rank can show progress.
  int64_t lease_ms = 600000;
  // The time after the controller's start within which every reachable worker attaches. This time
  // is many times the longest pause between two attempts of a worker to attach
  // (worker/rpc/attach_stream.h).
  int64_t return_within_ms = 30000;
  // The maximum time after the controller's start for which new jobs and placements wait until all
  // workers have attached. Workers may know of events that the log has lost (lost_history.h). If 0,
  // new jobs and placements do not wait.
  int64_t confirm_log_ms = 0;
  // If the log has lost events that no restore and no earlier EventsLost explains, the controller
  // ends instead of continuing with the older log.
  bool stop_on_lost_events = false;
  // The maximum time without a sign that a node received a start order, and the maximum time for
  // which the node's peers may be starting without the node. For attempts that have not trained
  // yet.
  int64_t start_lease_ms = 120000;
  // The minimum time that peers must have been starting before a missing node counts as lost. This
  // minimum applies if earlier starts of the job give a baseline.
  int64_t shortest_start_limit_ms = 30000;
  // The time within which every rank of a healing gang must complete a step. The time is longer for
  // a gang with long steps (heal_policy.h).
  int64_t heal_within_ms = 30000;
  // A phase of unknown length, such as a job's first load, counts as stalled after this time
  // without any sign of life. The time is long, because loading a 1 TB checkpoint from a slow file
  // server may take more than an hour.
  int64_t unknown_phase_ms = 4 * 3'600'000;
  // After the gang's last step, or after some of its ranks exited with 0, the gang counts as
  // stalled after this time without any sign of life. The remaining ranks may still be uploading
  // the result until then.
  int64_t finish_lease_ms = 1'800'000;
  // A running elastic job may get more nodes only if its attempt is at least this old.
  int64_t growth_interval_ms = 1'800'000;
  // A job may be archived archive_after_ms after its end. Disconnected nodes that may still have
  // output of the job delay archiving, but at most until archive_away_ms after its end.
  int64_t archive_after_ms = 3'600'000;
  int64_t archive_away_ms = 7 * 86'400'000LL;
  // A lost node is removed after this time without a heartbeat.
  int64_t forget_lost_after_ms = 7 * 86'400'000LL;
  // A node with this many failures within the window is quarantined. After at least quarantine_ms,
  // the quarantine ends if the node's checks pass.
  int quarantine_failures = 2;
  int64_t evidence_window_ms = 86'400'000;
  int64_t quarantine_ms = 3'600'000;
  // The number of ended jobs that stay in the state, for the first pages of job lists.
  int ended_jobs_kept = 1000;
  PreemptionLimits preemption;
  // The number of first jobs of each queue that are promised a time (schedule/promised_heads.h).
  int promised_heads = 1;
  // The term in which this controller leads. Every event and every message to a worker has it.
  int64_t leader_term = kFirstTerm;
  // Used only in answers to users.
  GpuPrice gpu_price;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_CORE_OPTIONS_H_
