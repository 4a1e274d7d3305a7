// The cluster that each database belongs to. A store whose databases come from different clusters
// would show metrics and output of one cluster's jobs under the numbers of another's.
#ifndef TRAINYARD_CONTROLLER_STORE_STORE_IDENTITY_H_
#define TRAINYARD_CONTROLLER_STORE_STORE_IDENTITY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::controller {

// Cluster id in the database; empty when it has none, as one that an older release made.
absl::StatusOr<std::string> ReadStoreIdentity(const std::string& path);

// Compares the databases of a data directory before anything is changed. `fresh`: the event log is
// empty and has no id, and metrics and output must be so, too. FAILED_PRECONDITION names the
// database, the cause and the next step.
absl::Status CheckStoreIdentities(const std::string& directory, bool fresh);

// Writes the id into each database that has none. FAILED_PRECONDITION: one has another id. An id
// that cannot be written because the disk is full is written at the next start.
absl::Status BindStores(const std::string& directory, const std::string& cluster_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_STORE_IDENTITY_H_
