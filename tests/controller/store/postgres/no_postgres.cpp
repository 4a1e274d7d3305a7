// Takes the place of postgres_contract.cpp in a build without libpq.
#include "tests/controller/store/postgres/postgres_contract.h"

namespace trainyard::controller {

std::string PostgresSkipReason() { return "this build has no PostgreSQL (TRAINYARD_POSTGRES=OFF)"; }

absl::StatusOr<std::unique_ptr<EventLog>> OpenPostgresEvents(const std::string&) {
  return absl::UnimplementedError(PostgresSkipReason());
}

absl::StatusOr<std::unique_ptr<MetricStore>> OpenPostgresMetrics(const std::string&) {
  return absl::UnimplementedError(PostgresSkipReason());
}

absl::StatusOr<std::unique_ptr<LogStore>> OpenPostgresLogs(const std::string&) {
  return absl::UnimplementedError(PostgresSkipReason());
}

}  // namespace trainyard::controller
