// Backup and restore of a controller's store.
//
// A backup is a directory with the files events.db, metrics.db, logs.db, cluster_id and `backup`.
// The file `backup` is written last and lists the size and the checksum of each other file.
//
// Before any database is copied, a read transaction is opened on each database, and on the event
// log last. A job, attempt or checkpoint is written to the event log before telemetry and output
// that refer to it are stored. Therefore the copied event log contains everything that the copied
// metrics and logs refer to. The copied metrics and logs may lack the newest bytes of a stream. The
// stream's worker sends these bytes again if it still has them.
#ifndef TRAINYARD_CONTROLLER_STORE_FILES_BACKUP_H_
#define TRAINYARD_CONTROLLER_STORE_FILES_BACKUP_H_

#include <cstdint>
#include <functional>
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

// Writes events.db, metrics.db, logs.db and cluster_id into an existing directory.
using FillBackup = std::function<absl::Status(const std::string& partial)>;

// Makes a backup of the files that `fill` writes. Errors: see BackUp.
absl::StatusOr<BackupSummary> BackUpWith(const std::string& directory, const FillBackup& fill);

// Restores a backup into a data directory that has no store. Other files in the directory are not
// changed. Job ids and attempt numbers that were assigned after the backup was made are not
// assigned again. If a restore is interrupted, call this again to finish it. Until then no
// controller starts on the directory. Errors: ALREADY_EXISTS: there is a store.
// FAILED_PRECONDITION: a controller is running there. DATA_LOSS: the backup is damaged.
absl::StatusOr<BackupSummary> Restore(const std::string& directory,
                                      const std::string& data_directory, int64_t now_ms);

// FAILED_PRECONDITION if a restore into the data directory was interrupted.
absl::Status CheckNotHalfRestored(const std::string& data_directory);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_FILES_BACKUP_H_
