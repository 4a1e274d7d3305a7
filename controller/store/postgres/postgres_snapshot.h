// Snapshots of the event log in PostgreSQL. A snapshot is a set of rows of about 1 MiB each, sealed
// one by one. Writing and reading therefore need little memory besides the message itself, and no
// row comes near PostgreSQL's limit of 1 GiB.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_SNAPSHOT_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_SNAPSHOT_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/postgres/postgres_database.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// Replaces the snapshot. Each row has its own transaction, so the leader's row is locked only for a
// short time; the last transaction replaces the previous snapshot. ABORTED: the leadership of
// `term` is lost.
absl::Status WritePostgresSnapshot(const v1::Snapshot& snapshot, int64_t term,
                                   PostgresDatabase& database);

// Returns the snapshot, if there is one. The caller must have begun a transaction, so that all rows
// belong to the same snapshot. DATA_LOSS: a row is missing or damaged.
absl::StatusOr<std::optional<v1::Snapshot>> ReadPostgresSnapshot(PostgresDatabase& database);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_SNAPSHOT_H_
