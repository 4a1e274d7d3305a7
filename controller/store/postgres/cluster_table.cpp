#include "controller/store/postgres/cluster_table.h"

#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "controller/store/postgres/postgres_schema.h"
#include "proto/support/durable_file.h"

namespace trainyard::controller {
namespace {

const std::array<PostgresMigration, 1> kClusterMigrations = {
    PostgresMigration{R"(
      CREATE TABLE cluster (
        only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
        id bytea NOT NULL,
        moved_to bytea NOT NULL
      )
    )"},
};

absl::Status OtherCluster(const std::string& path, const std::string& id,
                          const PostgresDatabase& database, const std::string& found) {
  if (found.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        database.name(), ": the schema is empty, but ", path, " names cluster ", id,
        ". Restore a backup of the database, or correct the connection string. To begin a new "
        "cluster, remove the file"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      database.name(), ": the schema belongs to cluster ", found, ", but ", path, " names cluster ",
      id,
      ". Two clusters need two schemas or two databases: set search_path in the connection "
      "string (options='-c search_path=NAME'), or set another --data-dir"));
}

// A schema with events but without an id is the rest of an interrupted move.
absl::Status CheckNotInterrupted(PostgresDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t events,
                             database.QueryInt64("SELECT COUNT(*) FROM (SELECT 1 FROM event LIMIT "
                                                 "1) AS one"));
  if (events == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(database.name(),
                   ": a move or a restore to this schema was interrupted; run `trainyard server "
                   "migrate` or `trainyard server restore` again"));
}

}  // namespace

absl::StatusOr<ClusterRow> ReadCluster(PostgresDatabase& database) {
  TRAINYARD_RETURN_IF_ERROR(Migrate("cluster", kClusterMigrations, database));
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows,
                             database.Query("SELECT id, moved_to FROM cluster"));
  if (rows.size() == 0) return ClusterRow();
  return ClusterRow{.id = std::string(rows.Bytes(0, 0)), .moved_to = std::string(rows.Bytes(0, 1))};
}

absl::Status WriteCluster(const ClusterRow& row, PostgresDatabase& database) {
  return database.Run(
      "INSERT INTO cluster (id, moved_to) VALUES ($1, $2) ON CONFLICT (only_row) DO UPDATE SET id "
      "= $1, moved_to = $2",
      row.id, row.moved_to);
}

absl::Status MovedAway(const ClusterRow& row, const PostgresDatabase& database) {
  return absl::FailedPreconditionError(absl::StrCat(
      database.name(), ": the jobs of this schema were moved to the data directory ", row.moved_to,
      ". Start the controller there without --postgres and without store.postgres"));
}

absl::StatusOr<std::string> IdentifyCluster(const ClusterIdentity& identity,
                                            PostgresDatabase& database) {
  const std::string path = identity.data_directory + "/cluster_id";
  TRAINYARD_ASSIGN_OR_RETURN(ClusterRow row, ReadCluster(database));
  if (!row.moved_to.empty()) return MovedAway(row, database);
  if (row.id.empty()) TRAINYARD_RETURN_IF_ERROR(CheckNotInterrupted(database));
  const auto text = ReadSmallFile(path);
  if (!text.ok() && !absl::IsNotFound(text.status())) return text.status();
  const std::string known = text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
  if (!known.empty() && known != row.id) return OtherCluster(path, known, database, row.id);
  if (row.id.empty()) {
    TRAINYARD_RETURN_IF_ERROR(
        database.Run("INSERT INTO cluster (id, moved_to) VALUES ($1, '') ON CONFLICT (only_row) DO "
                     "NOTHING",
                     identity.new_id));
    // Another controller may have been faster.
    TRAINYARD_ASSIGN_OR_RETURN(row, ReadCluster(database));
  }
  if (known.empty()) TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(path, row.id + "\n"));
  return row.id;
}

}  // namespace trainyard::controller
