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
        id bytea NOT NULL
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

}  // namespace

absl::StatusOr<std::string> ReadClusterId(PostgresDatabase& database) {
  TRAINYARD_RETURN_IF_ERROR(Migrate("cluster", kClusterMigrations, database));
  TRAINYARD_ASSIGN_OR_RETURN(const PostgresRows rows, database.Query("SELECT id FROM cluster"));
  return rows.size() == 0 ? std::string() : std::string(rows.Bytes(0, 0));
}

absl::Status BindCluster(const std::string& id, PostgresDatabase& database) {
  return database.Run("INSERT INTO cluster (id) VALUES ($1) ON CONFLICT (only_row) DO NOTHING", id);
}

absl::StatusOr<std::string> IdentifyCluster(const ClusterIdentity& identity,
                                            PostgresDatabase& database) {
  const std::string path = identity.data_directory + "/cluster_id";
  TRAINYARD_ASSIGN_OR_RETURN(std::string found, ReadClusterId(database));
  const auto text = ReadSmallFile(path);
  if (!text.ok() && !absl::IsNotFound(text.status())) return text.status();
  const std::string known = text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
  if (!known.empty() && known != found) return OtherCluster(path, known, database, found);
  if (found.empty()) {
    TRAINYARD_RETURN_IF_ERROR(BindCluster(identity.new_id, database));
    // Another controller may have been faster.
    TRAINYARD_ASSIGN_OR_RETURN(found, ReadClusterId(database));
  }
  if (known.empty()) TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(path, found + "\n"));
  return found;
}

}  // namespace trainyard::controller
