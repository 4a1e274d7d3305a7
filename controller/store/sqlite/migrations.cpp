#include "controller/store/sqlite/migrations.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

absl::Status RunStep(SqliteDatabase& database, const Migration& migration, int64_t version) {
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(database));
  TRAINYARD_RETURN_IF_ERROR(database.RunScript(migration.sql));
  // A PRAGMA takes no bound arguments. Concatenation is safe, because the number does not come from
  // outside.
  TRAINYARD_RETURN_IF_ERROR(database.RunScript(absl::StrCat("PRAGMA user_version = ", version)));
  return transaction.Commit();
}

}  // namespace

absl::Status Migrate(SqliteDatabase& database, std::span<const Migration> migrations) {
  const int64_t known = static_cast<int64_t>(migrations.size());
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t found, database.QueryInt64("PRAGMA user_version"));
  if (found < 0 || found > known) {
    return absl::FailedPreconditionError(absl::StrCat(
        database.path(), ": schema version ", found,
        " was written by another release; this release knows ", "versions up to ", known,
        ". Start the release that wrote the file or a newer release, or restore a ",
        "backup of the data directory"));
  }
  for (int64_t version = found; version < known; ++version) {
    TRAINYARD_RETURN_IF_ERROR(RunStep(database, migrations[version], version + 1));
  }
  return absl::OkStatus();
}

}  // namespace trainyard::controller
