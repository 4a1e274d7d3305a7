// The id by which workers distinguish this cluster from others.
#ifndef TRAINYARD_CONTROLLER_CLUSTER_ID_H_
#define TRAINYARD_CONTROLLER_CLUSTER_ID_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// A random id of 32 hex digits.
std::string NewClusterId();

// The cluster's offset in the rendezvous port range (CoreOptions::rendezvous_offset). Depends only
// on the id; offsets of different ids are spread evenly.
int64_t RendezvousOffset(const std::string& cluster_id);

// Returns the id stored in `directory`/cluster_id. With `fresh`, creates and stores a new id: an
// empty event log numbers jobs from 1 again, so it is a different cluster. DATA_LOSS if `fresh` is
// false and the file is missing or damaged: all workers would refuse a controller with another id.
absl::StatusOr<std::string> LoadClusterId(const std::string& directory, bool fresh);

// Returns the id of the cluster that all databases in the directory belong to. Binds databases
// without an id to it.
absl::StatusOr<std::string> IdentifyStores(const std::string& directory, bool log_is_empty);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CLUSTER_ID_H_
