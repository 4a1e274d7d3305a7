// Takes the place of postgres_stores.cpp in a build without libpq.
#include "controller/store/stores.h"

namespace trainyard::controller {

absl::StatusOr<Stores> OpenPostgresStores(const PostgresStoreOptions&) {
  return absl::FailedPreconditionError(
      "this build has no PostgreSQL; build it with TRAINYARD_POSTGRES=ON (needs libpq-dev), or "
      "start the controller without --postgres and without store.postgres");
}

}  // namespace trainyard::controller
