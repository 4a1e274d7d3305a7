// Takes the place of postgres_stores.cpp in a build without libpq.
#include "controller/store/stores.h"

namespace trainyard::controller {
namespace {

absl::Status NoPostgres() {
  return absl::FailedPreconditionError(
      "this build has no PostgreSQL; build it with TRAINYARD_POSTGRES=ON (needs libpq-dev), or "
      "start the controller without --postgres and without store.postgres");
}

}  // namespace

absl::StatusOr<std::unique_ptr<LeaderSeat>> OpenLeaderSeat(const PostgresStoreOptions&) {
  return NoPostgres();
}

absl::StatusOr<Stores> OpenPostgresStores(const PostgresStoreOptions&) { return NoPostgres(); }

}  // namespace trainyard::controller
