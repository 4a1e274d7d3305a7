// The tables of the stores in a PostgreSQL schema. All statements use the current schema, the first
// existing one of the connection's search_path; two clusters use two schemas or two databases.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_SCHEMA_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_SCHEMA_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "controller/store/postgres/postgres_database.h"

namespace trainyard::controller {

// Upgrades the tables of one store by one version. A released migration must never be changed.
struct PostgresMigration {
  std::string sql;
};

// Upgrades the tables of the named store to version migrations.size(), one transaction per version.
// The transaction also stores the version number. Controllers that start at the same time wait for
// each other. FAILED_PRECONDITION if another release wrote the tables.
absl::Status Migrate(const std::string& store, std::span<const PostgresMigration> migrations,
                     PostgresDatabase& database);

// Creates the table of the leader and the tables of the event log and the archive.
absl::Status MigrateEvents(PostgresDatabase& database);

// Creates the tables of the metric store and the log store.
absl::Status MigrateTelemetry(PostgresDatabase& database);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_SCHEMA_H_
