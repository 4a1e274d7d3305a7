// Takes the place of postgres_stores.cpp and store_move.cpp in a build without libpq.
#include "controller/store/store_move.h"
#include "controller/store/stores.h"

namespace trainyard::controller {
namespace {

absl::Status NotBuilt() {
  return absl::FailedPreconditionError(
      "this build has no PostgreSQL; build it with TRAINYARD_POSTGRES=ON (needs libpq-dev), or "
      "start the controller without --postgres and without store.postgres");
}

}  // namespace

absl::StatusOr<std::unique_ptr<LeaderSeat>> OpenLeaderSeat(const PostgresStoreOptions&) {
  return NotBuilt();
}

absl::StatusOr<std::unique_ptr<LogTail>> OpenLogTail(const PostgresStoreOptions&) {
  return NotBuilt();
}

absl::StatusOr<Stores> OpenPostgresStores(const PostgresStoreOptions&) { return NotBuilt(); }

absl::StatusOr<std::vector<MovedTable>> MoveToPostgres(const StorePlaces&) { return NotBuilt(); }

absl::StatusOr<std::vector<MovedTable>> MoveToFiles(const StorePlaces&) { return NotBuilt(); }

absl::StatusOr<BackupSummary> BackUpPostgres(const std::string&, const std::string&) {
  return NotBuilt();
}

absl::StatusOr<BackupSummary> RestoreToPostgres(const std::string&, const StorePlaces&, int64_t) {
  return NotBuilt();
}

}  // namespace trainyard::controller
