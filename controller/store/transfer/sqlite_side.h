// The SQLite files of a directory as one side of a transfer.
#ifndef TRAINYARD_CONTROLLER_STORE_TRANSFER_SQLITE_SIDE_H_
#define TRAINYARD_CONTROLLER_STORE_TRANSFER_SQLITE_SIDE_H_

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/sqlite/sqlite_database.h"
#include "controller/store/transfer/transfer_side.h"

namespace trainyard::controller {

class SqliteSide : public TransferSide {
 public:
  // Opens or creates events.db, metrics.db and logs.db, and brings their schemas up to date. No
  // other process may use the files.
  static absl::StatusOr<std::unique_ptr<SqliteSide>> Open(const std::string& directory);

  SqlDatabase& database(StorePart part) override { return *DatabaseOf(part); }
  std::string MarkTableOf(StorePart) const override { return "mark"; }
  absl::Status Write(StorePart part, const std::function<absl::Status()>& write) override;
  absl::Status AddArchived(const std::vector<v1::ArchivedJob>& jobs) override;
  absl::StatusOr<std::optional<v1::Snapshot>> ReadSnapshot() override;
  absl::Status WriteSnapshot(const v1::Snapshot& snapshot) override;
  // SQLite continues after the highest id of a table.
  absl::Status SetNextIds() override { return absl::OkStatus(); }

 private:
  explicit SqliteSide(std::string directory) : directory_(std::move(directory)) {}

  std::unique_ptr<SqliteDatabase>& DatabaseOf(StorePart part) {
    return databases_[static_cast<std::size_t>(part)];
  }
  std::string PathOf(StorePart part) const;

  const std::string directory_;
  std::array<std::unique_ptr<SqliteDatabase>, 3> databases_;  // By StorePart.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_TRANSFER_SQLITE_SIDE_H_
