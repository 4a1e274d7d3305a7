// Moves ended jobs from the state to the archive in the store. A long history therefore does not
// enlarge the state or slow down snapshots and restarts.
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

// The end time and the id of the last job that ArchiveDue checked.
using ArchiveCursor = std::pair<Timestamp, int64_t>;

// Returns the JobArchived events that are due. The number of events is bounded, so that a tick
// stays short. A job is due if
// - it ended at least archive_after_ms ago,
// - more than ended_jobs_kept ended jobs are in the state,
// - no older job of its name is in the state, and
// - no worker has data of the job.
// A disconnected node that may have data delays the job, but only until archive_away_ms after the
// job's end. There is no such limit for a node that may still run the job's ranks
// (NodeEntry::uncleared). A call checks a bounded number of jobs, starting after `cursor`, and
// advances `cursor`.
std::vector<v1::Event> ArchiveDue(const ClusterState& state, const Observations& observations,
                                  const CoreOptions& options, Timestamp now, ArchiveCursor& cursor);

// Returns the job's archive record, including the job's newest progress and steps.
v1::ArchivedJob ToArchived(const JobEntry& entry, const Observations& observations, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_ARCHIVE_H_
