// Checks that all databases belong to the same cluster. If databases of different clusters were
// mixed, the metrics and output of one cluster's jobs would be shown under the job ids of another.
#ifndef TRAINYARD_CONTROLLER_STORE_FILES_STORE_IDENTITY_H_
#define TRAINYARD_CONTROLLER_STORE_FILES_STORE_IDENTITY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::controller {

// Returns the cluster id in the database; empty if it has none, as in databases of older releases.
absl::StatusOr<std::string> ReadStoreIdentity(const std::string& path);

// Compares the cluster ids of the databases before anything is changed. `fresh` means that the
// event log is empty and has no id. The metric and log databases must then be empty and without id,
// too. The FAILED_PRECONDITION error names the database, the cause and the next step.
absl::Status CheckStoreIdentities(const std::string& directory, bool fresh);

// Writes the cluster id into each database without an id. FAILED_PRECONDITION: a database has
// another id. If the disk is full, returns OK, and the id is written at the next start.
absl::Status BindStores(const std::string& directory, const std::string& cluster_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_FILES_STORE_IDENTITY_H_
