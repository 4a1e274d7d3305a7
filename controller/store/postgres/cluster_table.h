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
// `new_id`. FAILED_PRECONDITION: the file names another cluster, the jobs were moved away, or the
// schema is empty although the file names a cluster.
absl::StatusOr<std::string> IdentifyCluster(const ClusterIdentity& identity,
                                            PostgresDatabase& database);

struct ClusterRow {
  std::string id;  // Empty if no controller has used the schema, or a move to it was interrupted.
  // The data directory to which the jobs were moved; empty if they are here.
  std::string moved_to;
};

// Creates the table if it is missing.
absl::StatusOr<ClusterRow> ReadCluster(PostgresDatabase& database);
// Replaces the row.
absl::Status WriteCluster(const ClusterRow& row, PostgresDatabase& database);

// Returns FAILED_PRECONDITION, for a row with moved_to.
absl::Status MovedAway(const ClusterRow& row, const PostgresDatabase& database);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_CLUSTER_TABLE_H_
