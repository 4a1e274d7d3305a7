// Measures and returns free space in a database file.
#ifndef TRAINYARD_CONTROLLER_STORE_SQLITE_SQLITE_SPACE_H_
#define TRAINYARD_CONTROLLER_STORE_SQLITE_SQLITE_SPACE_H_

#include "absl/status/statusor.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "controller/store/support/pruning.h"

namespace trainyard::controller {

absl::StatusOr<StoreUsage> ReadUsage(SqliteDatabase& database);

// Truncates free pages at the end of the file, at most 2 MiB per call. Leaves 4 MiB free for later
// writes. Returns false if there was nothing to truncate. Databases that were created by releases
// without retention cannot be truncated, because SQLite cannot move their pages; later writes reuse
// their free pages.
absl::StatusOr<bool> ReturnFreePages(SqliteDatabase& writer);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQLITE_SQLITE_SPACE_H_
