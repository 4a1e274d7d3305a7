#include "tests/controller/store/postgres/postgres_contract.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/postgres_event_log.h"
#include "controller/store/postgres/postgres_schema.h"
#include "tests/controller/store/postgres/postgres_fixture.h"
#include "tests/controller/store/postgres/postgres_server.h"

namespace trainyard::controller {

std::string PostgresSkipReason() {
  const auto server = PostgresServer::Shared();
  return absl::IsNotFound(server.status()) ? std::string(server.status().message()) : "";
}

absl::StatusOr<std::unique_ptr<EventLog>> OpenPostgresEvents(const std::string& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresServer * server, PostgresServer::Shared());
  const std::string schema = absl::StrCat("test_", std::hash<std::string>()(directory));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string settings, server->SettingsOf(schema));
  TRAINYARD_ASSIGN_OR_RETURN(const auto database, PostgresDatabase::Connect(settings));
  TRAINYARD_RETURN_IF_ERROR(MigrateEvents(*database));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t term, BeginNextTerm(*database));
  return PostgresEventLog::Open(settings, term);
}

}  // namespace trainyard::controller
