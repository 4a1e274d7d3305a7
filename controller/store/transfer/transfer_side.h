// The stores of a stopped controller as source or target of a transfer.
#ifndef TRAINYARD_CONTROLLER_STORE_TRANSFER_TRANSFER_SIDE_H_
#define TRAINYARD_CONTROLLER_STORE_TRANSFER_TRANSFER_SIDE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/sql/sql_database.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

enum class StorePart { kEvents, kMetrics, kLogs };

// Used by one thread.
class TransferSide {
 public:
  virtual ~TransferSide() = default;

  // The database with the tables of this store. PostgreSQL has one database for all of them.
  virtual SqlDatabase& database(StorePart part) = 0;
  // The name of the table with the store's mark.
  virtual std::string MarkTableOf(StorePart part) const = 0;

  // Runs `write` in one transaction of the store.
  virtual absl::Status Write(StorePart part, const std::function<absl::Status()>& write) = 0;
  // Adds jobs to the archive, within Write.
  virtual absl::Status AddArchived(const std::vector<v1::ArchivedJob>& jobs) = 0;

  virtual absl::StatusOr<std::optional<v1::Snapshot>> ReadSnapshot() = 0;
  // The events up to the snapshot must be stored already.
  virtual absl::Status WriteSnapshot(const v1::Snapshot& snapshot) = 0;

  // Makes new rows of all tables follow the copied ones.
  virtual absl::Status SetNextIds() = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_TRANSFER_TRANSFER_SIDE_H_
