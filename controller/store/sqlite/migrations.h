// Schema migrations, run automatically when a database is opened.
#ifndef TRAINYARD_CONTROLLER_STORE_SQLITE_MIGRATIONS_H_
#define TRAINYARD_CONTROLLER_STORE_SQLITE_MIGRATIONS_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "controller/store/sqlite/sqlite_database.h"

namespace trainyard::controller {

// Upgrades the schema by one version. A released migration must never be changed.
struct Migration {
  // One or more SQL statements, without BEGIN and COMMIT.
  std::string sql;
};

// Upgrades the database to version migrations.size(). Migration i (from 0) produces version i + 1.
// Each migration sets its version number (PRAGMA user_version) in the same transaction. After a
// crash, the next start therefore resumes after the last complete migration. FAILED_PRECONDITION if
// a newer release wrote the database.
absl::Status Migrate(SqliteDatabase& database, std::span<const Migration> migrations);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQLITE_MIGRATIONS_H_
