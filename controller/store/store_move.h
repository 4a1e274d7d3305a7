// Moves the stores of a stopped controller between SQLite files and PostgreSQL, and backs up and
// restores stores in PostgreSQL.
#ifndef TRAINYARD_CONTROLLER_STORE_STORE_MOVE_H_
#define TRAINYARD_CONTROLLER_STORE_STORE_MOVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/files/backup.h"

namespace trainyard::controller {

struct StorePlaces {
  // The directory of the SQLite files and of the file cluster_id.
  std::string data_directory;
  // A connection string of libpq.
  std::string postgres;
};

struct MovedTable {
  std::string name;
  int64_t rows = 0;
  // The hash of all columns of all rows. Source and copy have the same hash.
  uint64_t hash = 0;
};

// Copies all rows, compares the hashes of both copies, and then marks the source as moved, so that
// no controller opens it. If the move is interrupted, the source is unchanged; run it again. In
// PostgreSQL the schema must be new. FAILED_PRECONDITION: a controller uses the source or the
// target, or the target has data. NOT_FOUND: the source has no store. DATA_LOSS: the source is
// damaged, or the copy differs.
absl::StatusOr<std::vector<MovedTable>> MoveToPostgres(const StorePlaces& places);
// MoveToFiles also writes the positions of the hooks, which are among the leader's notes.
absl::StatusOr<std::vector<MovedTable>> MoveToFiles(const StorePlaces& places);

// Makes a backup of a schema, in the same format as that of a data directory (files/backup.h). The
// controller may be running: the backup has the state of one moment. NOT_FOUND: the schema has no
// store. Other errors: see BackUp.
absl::StatusOr<BackupSummary> BackUpPostgres(const std::string& postgres,
                                             const std::string& directory);

// Restores a backup of either kind into a schema, as Restore does into a data directory. The
// backup is unpacked in the data directory, which needs the space meanwhile. Errors: see Restore
// and MoveToPostgres.
absl::StatusOr<BackupSummary> RestoreToPostgres(const std::string& directory,
                                                const StorePlaces& places, int64_t now_ms);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_STORE_MOVE_H_
