// Backup and restore of a controller's store.
//
// A backup is a directory: events.db, metrics.db, logs.db, cluster_id, and the file `backup`, which
// is written last and lists size and checksum of the other files.
//
// The three databases are copied as they are at one moment: a read transaction on each is opened
// before the first byte is copied, on the event log last. A job, attempt or checkpoint is in the
// event log before telemetry and output that refer to it are stored, so each one in the copied
// metrics and logs is also in the copied log. Conversely, metrics and logs may lack the newest
// bytes of a stream, which its worker sends again if it still has them.
#ifndef TRAINYARD_CONTROLLER_STORE_BACKUP_H_
#define TRAINYARD_CONTROLLER_STORE_BACKUP_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::controller {

struct BackupSummary {
  // Absolute.
  std::string directory;
  // Of the last event.
  uint64_t last_sequence = 0;
  int64_t bytes = 0;
};

// Makes a backup of a data directory, whether its controller runs or not; a running one is not held
// up. `directory` must not exist or be empty. ALREADY_EXISTS: it is neither. NOT_FOUND: there is no
// store. PERMISSION_DENIED: the data directory belongs to another user. DATA_LOSS: the store is
// damaged; the copy is verified. RESOURCE_EXHAUSTED: the disk is full. After an error there is no
// `directory`; a process that was killed leaves `directory`.partial-*, which may be removed.
absl::StatusOr<BackupSummary> BackUp(const std::string& data_directory,
                                     const std::string& directory);

// Puts a backup into a data directory that has no store; other files stay. Numbers of jobs and
// attempts that were given out after the backup was made are not given out again. ALREADY_EXISTS:
// there is a store. FAILED_PRECONDITION: a controller runs there. DATA_LOSS: the backup is damaged.
// A restore that was interrupted is made by calling this again; no controller starts before that.
absl::StatusOr<BackupSummary> Restore(const std::string& directory,
                                      const std::string& data_directory, int64_t now_ms);

// FAILED_PRECONDITION when a restore into the data directory was interrupted.
absl::Status CheckNotHalfRestored(const std::string& data_directory);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_BACKUP_H_
