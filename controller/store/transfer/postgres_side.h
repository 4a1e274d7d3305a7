// A PostgreSQL schema as one side of a transfer.
#ifndef TRAINYARD_CONTROLLER_STORE_TRANSFER_POSTGRES_SIDE_H_
#define TRAINYARD_CONTROLLER_STORE_TRANSFER_POSTGRES_SIDE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/postgres/postgres_database.h"
#include "controller/store/transfer/transfer_side.h"

namespace trainyard::controller {

class PostgresSide : public TransferSide {
 public:
  // For writing: every transaction checks that the leader's row names `leader_term`. The schema
  // must be up to date.
  static absl::StatusOr<std::unique_ptr<PostgresSide>> ForWriting(const std::string& settings,
                                                                  int64_t leader_term);
  // For reading: all statements see the state of the schema at this moment, also while a controller
  // writes.
  static absl::StatusOr<std::unique_ptr<PostgresSide>> ForReading(const std::string& settings);

  // Removes all rows of the stores, and the notes of former leaders.
  absl::Status RemoveRows();

  SqlDatabase& database(StorePart) override { return *database_; }
  std::string MarkTableOf(StorePart part) const override;
  absl::Status Write(StorePart part, const std::function<absl::Status()>& write) override;
  absl::Status AddArchived(const std::vector<v1::ArchivedJob>& jobs) override;
  absl::StatusOr<std::optional<v1::Snapshot>> ReadSnapshot() override;
  absl::Status WriteSnapshot(const v1::Snapshot& snapshot) override;
  absl::Status SetNextIds() override;

 private:
  PostgresSide(std::unique_ptr<PostgresDatabase> database, int64_t leader_term)
      : leader_term_(leader_term), database_(std::move(database)) {}

  const int64_t leader_term_;
  const std::unique_ptr<PostgresDatabase> database_;
  std::optional<PostgresTransaction> view_;  // Only for reading.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_TRANSFER_POSTGRES_SIDE_H_
