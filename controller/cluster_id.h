// The name by which workers tell this cluster from another one.
#ifndef TRAINYARD_CONTROLLER_CLUSTER_ID_H_
#define TRAINYARD_CONTROLLER_CLUSTER_ID_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// A random id of 32 hex digits.
std::string NewClusterId();

// Offset of the cluster in the range of rendezvous ports (CoreOptions::rendezvous_offset): the same
// for the same id, and spread evenly over ids.
int64_t RendezvousOffset(const std::string& cluster_id);

// The id kept in `directory`/cluster_id. With `fresh` a new one is made: an empty event log numbers
// its jobs from 1 again, so it is another cluster. DATA_LOSS when it is not fresh and the file is
// missing or damaged: all workers would refuse a controller of another id.
absl::StatusOr<std::string> LoadClusterId(const std::string& directory, bool fresh);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CLUSTER_ID_H_
