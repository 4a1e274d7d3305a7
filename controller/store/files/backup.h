// Backup and restore of a controller's store.
//
// A backup is a directory with events.db, metrics.db, logs.db, cluster_id, and the file `backup`,
// which is written last and lists size and checksum of the other files.
//
// The three databases are copied as of one moment: a read transaction is opened on each before the
// first byte is copied, on the event log last. A job, attempt or checkpoint is in the event log
// before telemetry and output that refer to it are stored. Therefore the copied event log contains
// everything that the copied metrics and logs refer to. The copied metrics and logs may lack the
// newest bytes of a stream. Its worker sends them again if it still has them.
#ifndef TRAINYARD_CONTROLLER_STORE_FILES_BACKUP_H_
#define TRAINYARD_CONTROLLER_STORE_FILES_BACKUP_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::controller {

struct BackupSummary {
  // Absolute path.
  std::string directory;
  // Sequence number of the last event.
  uint64_t last_sequence = 0;
  int64_t bytes = 0;
};

// Backs up a data directory. Its controller may be running and is not blocked. `directory` must not
// exist, or be empty. The backup is built in `directory`.partial-* and renamed when it is complete.
// A killed process leaves the partial directory, which may be removed. Errors: ALREADY_EXISTS:
// `directory` is not empty. NOT_FOUND: there is no store. PERMISSION_DENIED: the data directory
// belongs to another user. DATA_LOSS: the store is damaged; the copy is verified.
// RESOURCE_EXHAUSTED: the disk is full.
absl::StatusOr<BackupSummary> BackUp(const std::string& data_directory,
                                     const std::string& directory);

// Restores a backup into a data directory that has no store; other files stay. Job ids and attempt
// numbers assigned after the backup was made are not assigned again. To finish an interrupted
// restore, call this again; until then no controller starts on the directory. Errors:
// ALREADY_EXISTS: there is a store. FAILED_PRECONDITION: a controller is running there. DATA_LOSS:
// the backup is damaged.
absl::StatusOr<BackupSummary> Restore(const std::string& directory,
                                      const std::string& data_directory, int64_t now_ms);

// FAILED_PRECONDITION if a restore into the data directory was interrupted.
absl::Status CheckNotHalfRestored(const std::string& data_directory);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_FILES_BACKUP_H_
