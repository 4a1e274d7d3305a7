// Schema steps that run by themselves when a database is opened.
#ifndef TRAINYARD_CONTROLLER_STORE_MIGRATIONS_H_
#define TRAINYARD_CONTROLLER_STORE_MIGRATIONS_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "controller/store/sqlite_database.h"

namespace trainyard::controller {

// Takes the schema from one version to the next. Once released a step is never changed.
struct Migration {
  // One or more SQL statements, without BEGIN and COMMIT.
  std::string sql;
};

// Brings the database to version migrations.size(): step i (from 0) makes version i + 1. Each step
// is one transaction together with the new version number (PRAGMA user_version), so after a crash
// at any statement the next start goes on where the last whole step ended. FAILED_PRECONDITION when
// a newer program has written the database.
absl::Status Migrate(SqliteDatabase& database, std::span<const Migration> migrations);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_MIGRATIONS_H_
