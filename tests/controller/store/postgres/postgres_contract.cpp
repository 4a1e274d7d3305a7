#include "tests/controller/store/postgres/postgres_contract.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "controller/store/logs/sql_log_store.h"
#include "controller/store/metrics/sql_metric_store.h"
#include "controller/store/postgres/postgres_connections.h"
#include "controller/store/postgres/postgres_event_log.h"
#include "controller/store/postgres/postgres_schema.h"
#include "tests/controller/store/postgres/postgres_fixture.h"
#include "tests/controller/store/postgres/postgres_server.h"

namespace trainyard::controller {

std::string PostgresSkipReason() {
  const auto server = PostgresServer::Shared();
  return absl::IsNotFound(server.status()) ? std::string(server.status().message()) : "";
}

namespace {

struct ContractSchema {
  std::string settings;
  int64_t term = 0;
};

absl::StatusOr<ContractSchema> PrepareSchema(const std::string& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(PostgresServer * server, PostgresServer::Shared());
  ContractSchema schema;
  TRAINYARD_ASSIGN_OR_RETURN(schema.settings, server->SettingsOf(absl::StrCat(
                                                  "test_", std::hash<std::string>()(directory))));
  TRAINYARD_ASSIGN_OR_RETURN(const auto database, PostgresDatabase::Connect(schema.settings));
  TRAINYARD_RETURN_IF_ERROR(MigrateEvents(*database));
  TRAINYARD_RETURN_IF_ERROR(MigrateTelemetry(*database));
  TRAINYARD_ASSIGN_OR_RETURN(schema.term, BeginNextTerm(*database));
  return schema;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventLog>> OpenPostgresEvents(const std::string& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(const ContractSchema schema, PrepareSchema(directory));
  return PostgresEventLog::Open(schema.settings, schema.term);
}

absl::StatusOr<std::unique_ptr<MetricStore>> OpenPostgresMetrics(const std::string& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(const ContractSchema schema, PrepareSchema(directory));
  return SqlMetricStore::Open(std::make_unique<PostgresConnections>(schema.settings, schema.term,
                                                                    MetricTablesInPostgres()));
}

absl::StatusOr<std::unique_ptr<LogStore>> OpenPostgresLogs(const std::string& directory) {
  TRAINYARD_ASSIGN_OR_RETURN(const ContractSchema schema, PrepareSchema(directory));
  return SqlLogStore::Open(
      std::make_unique<PostgresConnections>(schema.settings, schema.term, LogTablesInPostgres()));
}

}  // namespace trainyard::controller
