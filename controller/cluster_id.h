// The id by which workers distinguish this cluster from other clusters.
#ifndef TRAINYARD_CONTROLLER_CLUSTER_ID_H_
#define TRAINYARD_CONTROLLER_CLUSTER_ID_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// A random id of 32 hex digits.
std::string NewClusterId();

// Returns the cluster's offset in the range of rendezvous ports (CoreOptions::rendezvous_offset).
// The offset depends only on the id. Offsets of different ids are spread evenly.
int64_t RendezvousOffset(const std::string& cluster_id);

// Returns the id stored in `directory`/cluster_id. If `fresh` is true (the event log is empty),
// creates and stores a new id instead: an empty log numbers jobs from 1 again, so it belongs to a
// new cluster. DATA_LOSS: `fresh` is false, and the file is missing or damaged. A new id would not
// help, because all workers would refuse it.
absl::StatusOr<std::string> LoadClusterId(const std::string& directory, bool fresh);

// Returns the id of the cluster to which all databases in the directory belong. Stores this id in
// databases without an id.
absl::StatusOr<std::string> IdentifyStores(const std::string& directory, bool log_is_empty);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CLUSTER_ID_H_
