#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/files/moved_mark.h"
#include "controller/store/logs/sql_log_store.h"
#include "controller/store/metrics/sql_metric_store.h"
#include "controller/store/postgres/cluster_table.h"
#include "controller/store/postgres/leader_lease.h"
#include "controller/store/postgres/postgres_connections.h"
#include "controller/store/postgres/postgres_event_log.h"
#include "controller/store/postgres/postgres_leader_notes.h"
#include "controller/store/postgres/postgres_log_tail.h"
#include "controller/store/postgres/postgres_probe.h"
#include "controller/store/postgres/postgres_schema.h"
#include "controller/store/postgres/server_wait.h"
#include "controller/store/stores.h"

namespace trainyard::controller {
namespace {

// A candidate checks the schema with about 20 statements. Together with the two connections, it has
// a seat or an error within 30 s, even if a server that recovers from a crash answers each of them
// slowly.
constexpr int kPrepareSeatMs = 10'000;

// The data directory of a cluster on SQLite has a history that the database lacks.
absl::Status CheckNoFiles(const std::string& directory) {
  const std::string path = directory + "/events.db";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const std::string moved_to, ReadMovedMark(directory));
  if (!moved_to.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      path,
      " exists, so this data directory has its jobs in SQLite. Move them with `trainyard server "
      "migrate --to postgres`, or set another --data-dir"));
}

absl::StatusOr<std::string> PrepareSchema(const PostgresStoreOptions& options,
                                          PostgresDatabase& database) {
  TRAINYARD_RETURN_IF_ERROR(MigrateEvents(database));
  TRAINYARD_RETURN_IF_ERROR(MigrateTelemetry(database));
  return IdentifyCluster(
      {.data_directory = options.data_directory, .new_id = options.new_cluster_id}, database);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LeaderSeat>> OpenLeaderSeat(const PostgresStoreOptions& options) {
  TRAINYARD_RETURN_IF_ERROR(MakeDataDirectory(options.data_directory));
  TRAINYARD_RETURN_IF_ERROR(CheckNoFiles(options.data_directory));
  TRAINYARD_ASSIGN_OR_RETURN(const auto database, PostgresDatabase::Connect(options.settings));
  database->LimitAll(kPrepareSeatMs);
  TRAINYARD_RETURN_IF_ERROR(PrepareSchema(options, *database).status());
  TRAINYARD_ASSIGN_OR_RETURN(auto leadership,
                             Leadership::Open(options.settings, options.holder, options.version));
  return leadership;
}

absl::StatusOr<std::unique_ptr<LogTail>> OpenLogTail(const PostgresStoreOptions& options) {
  TRAINYARD_ASSIGN_OR_RETURN(auto tail, PostgresLogTail::Open(options.settings));
  return tail;
}

absl::StatusOr<Stores> OpenPostgresStores(const PostgresStoreOptions& options) {
  Stores stores;
  ServerWait wait(options.wait_limit, options.on_wait);
  TRAINYARD_ASSIGN_OR_RETURN(stores.directory, DataDirectory::Open(options.data_directory));
  TRAINYARD_RETURN_IF_ERROR(CheckNoFiles(options.data_directory));
  TRAINYARD_ASSIGN_OR_RETURN(const auto database, wait.Connect(options.settings));
  stores.database = database->name();
  stores.probe = std::make_unique<PostgresProbe>(options.settings);
  TRAINYARD_ASSIGN_OR_RETURN(stores.cluster_id, PrepareSchema(options, *database));
  int64_t term = options.leader_term;
  if (term == 0) {
    TRAINYARD_ASSIGN_OR_RETURN(auto leadership, wait.Lead(options.settings, options.holder));
    term = leadership->term();
    stores.lease = std::make_unique<LeaderLease>(std::move(leadership), options.on_lost);
  }
  stores.notes = std::make_unique<PostgresLeaderNotes>(options.settings, term);
  TRAINYARD_ASSIGN_OR_RETURN(stores.events, PostgresEventLog::Open(options.settings, term));
  TRAINYARD_ASSIGN_OR_RETURN(stores.metrics,
                             SqlMetricStore::Open(std::make_unique<PostgresConnections>(
                                 options.settings, term, MetricTablesInPostgres())));
  TRAINYARD_ASSIGN_OR_RETURN(stores.logs, SqlLogStore::Open(std::make_unique<PostgresConnections>(
                                              options.settings, term, LogTablesInPostgres())));
  TRAINYARD_ASSIGN_OR_RETURN(
      stores.code_store, code::BlobStore::Open({.directory = stores.directory->path() + "/code"},
                                               code::BlobStore::NowMs()));
  return stores;
}

}  // namespace trainyard::controller
