// Ended jobs that leave the state for the archive of the store. State, snapshots and restarts then
// cost no more however long the history is.
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

namespace trainyard::controller {

// Job that ArchiveDue looked at last, by the time of its end and its number.
using ArchiveCursor = std::pair<Timestamp, int64_t>;

// The JobArchived events that are due: a bounded number, so that a tick stays short. A job is due
// when it ended archive_after_ms ago, more than ended_jobs_kept ended jobs are in the state, no
// older job of its name is, and no worker has anything of it any more. A node that is away is
// waited for until archive_away_ms after the end; one that may still run ranks of the job
// (NodeEntry::uncleared) is waited for without a limit. A call looks at a bounded number of jobs
// and begins after `cursor`, which it moves.
std::vector<v1::Event> ArchiveDue(const ClusterState& state, const Observations& observations,
                                  const CoreOptions& options, Timestamp now, ArchiveCursor& cursor);

// The record of a job for the archive, with its newest progress and steps.
v1::ArchivedJob ToArchived(const JobEntry& entry, const Observations& observations, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_ARCHIVE_H_
