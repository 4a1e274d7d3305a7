// Moves ended jobs from the state to the archive in the store. The cost of state, snapshots and
// restarts then does not grow with history.
#ifndef TRAINYARD_CONTROLLER_CORE_ARCHIVE_H_
#define TRAINYARD_CONTROLLER_CORE_ARCHIVE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// The last job that ArchiveDue checked: the time of its end and its id.
using ArchiveCursor = std::pair<Timestamp, int64_t>;

// The JobArchived events that are due; a bounded number, so that a tick stays short. A job is due
// if
// - it ended at least archive_after_ms ago,
// - more than ended_jobs_kept ended jobs are in the state,
// - no older job of its name is in the state, and
// - no worker has data of it. A disconnected node delays the job until archive_away_ms after its
//   end. A node that may still run its ranks (NodeEntry::uncleared) delays it without a limit.
// A call checks a bounded number of jobs, starting after `cursor`, and advances `cursor`.
std::vector<v1::Event> ArchiveDue(const ClusterState& state, const Observations& observations,
                                  const CoreOptions& options, Timestamp now, ArchiveCursor& cursor);

// The job's archive record, with its newest progress and steps.
v1::ArchivedJob ToArchived(const JobEntry& entry, const Observations& observations, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_ARCHIVE_H_
