// A snapshot is the first record of a compacted log and contains the whole state.
#ifndef TRAINYARD_CONTROLLER_CORE_EVENT_LOG_SNAPSHOT_H_
#define TRAINYARD_CONTROLLER_CORE_EVENT_LOG_SNAPSHOT_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// These functions convert a job entry to its details and back. API responses omit the details.
v1::JobSnapshot DetailsOf(const JobEntry& entry);
void TakeDetails(const v1::JobSnapshot& details, JobEntry& entry);

// Returns the job entry that an archive record describes.
JobEntry FromArchived(v1::ArchivedJob archived);

// These functions convert between the state and the first record of a compacted log.
v1::Snapshot ToSnapshot(ClusterState state, uint64_t last_sequence);
ClusterState FromSnapshot(v1::Snapshot snapshot);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EVENT_LOG_SNAPSHOT_H_
