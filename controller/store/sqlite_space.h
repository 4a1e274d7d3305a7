// Space within a database file.
#ifndef TRAINYARD_CONTROLLER_STORE_SQLITE_SPACE_H_
#define TRAINYARD_CONTROLLER_STORE_SQLITE_SPACE_H_

#include "absl/status/statusor.h"
#include "controller/store/pruning.h"
#include "controller/store/sqlite_database.h"

namespace trainyard::controller {

absl::StatusOr<StoreUsage> ReadUsage(SqliteDatabase& database);

// Cuts free pages off the end of the file, at most 2 MiB a call, down to 4 MiB that are left for
// later writes; false when there was nothing to cut. Databases made before releases with retention
// keep their free pages for later writes: SQLite cannot move their pages.
absl::StatusOr<bool> ReturnFreePages(SqliteDatabase& writer);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQLITE_SPACE_H_
