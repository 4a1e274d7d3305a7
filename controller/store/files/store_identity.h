// The cluster that each database belongs to. A store mixed from databases of different clusters
// would show metrics and output of one cluster's jobs under the job ids of another.
#ifndef TRAINYARD_CONTROLLER_STORE_FILES_STORE_IDENTITY_H_
#define TRAINYARD_CONTROLLER_STORE_FILES_STORE_IDENTITY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::controller {

// Cluster id in the database; empty if it has none, as in databases of older releases.
absl::StatusOr<std::string> ReadStoreIdentity(const std::string& path);

// Compares the databases of a data directory before anything is changed. `fresh` means that the
// event log is empty and has no id; the metric and log databases must then be empty too and have no
// id. FAILED_PRECONDITION names the database, the cause and the next step.
absl::Status CheckStoreIdentities(const std::string& directory, bool fresh);

// Writes the id into each database that has none. FAILED_PRECONDITION: a database has another id.
// If the disk is full, the id is written at the next start.
absl::Status BindStores(const std::string& directory, const std::string& cluster_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_FILES_STORE_IDENTITY_H_
