// The id of the cluster to which a schema belongs.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_CLUSTER_TABLE_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_CLUSTER_TABLE_H_

#include <string>

#include "absl/status/statusor.h"
#include "controller/store/postgres/postgres_database.h"

namespace trainyard::controller {

struct ClusterIdentity {
  // Its file cluster_id names the cluster that this controller served last.
  std::string data_directory;
  // The id of a new cluster.
  std::string new_id;
};

// Returns the id of the schema's cluster, and writes it to the file. A schema without an id gets
// `new_id`. FAILED_PRECONDITION: the file names another cluster, or the schema is empty although
// the file names a cluster.
absl::StatusOr<std::string> IdentifyCluster(const ClusterIdentity& identity,
                                            PostgresDatabase& database);

// Returns the id of the schema's cluster; empty if it has none.
absl::StatusOr<std::string> ReadClusterId(PostgresDatabase& database);

// Sets the id of a schema without an id.
absl::Status BindCluster(const std::string& id, PostgresDatabase& database);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_CLUSTER_TABLE_H_
