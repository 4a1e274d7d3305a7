#include "tests/controller/store/contract/store_contract.h"

#include <map>

#include "controller/store/events/memory_event_log.h"
#include "controller/store/events/sqlite_event_log.h"
#include "controller/store/logs/memory_log_store.h"
#include "controller/store/logs/sqlite_log_store.h"
#include "controller/store/metrics/memory_metric_store.h"
#include "controller/store/metrics/sqlite_metric_store.h"
#include "tests/simulation/store/simulated_event_log.h"

namespace trainyard::controller {
namespace {

template <typename Interface, typename Memory, typename Sqlite>
absl::StatusOr<std::unique_ptr<Interface>> OpenKind(StoreKind kind, const std::string& path) {
  if (kind == StoreKind::kMemory) return std::make_unique<Memory>();
  return Sqlite::Open(path);
}

// Opens the log as the leader of the next term. The databases outlive their logs, as files do.
absl::StatusOr<std::unique_ptr<EventLog>> OpenSimulatedEvents(const std::string& directory) {
  static std::map<std::string, std::unique_ptr<simulation::SimulatedDatabase>> databases;
  std::unique_ptr<simulation::SimulatedDatabase>& database = databases[directory];
  if (database == nullptr) {
    database = std::make_unique<simulation::SimulatedDatabase>([] { return Timestamp{0}; });
  }
  const int64_t session = database->OpenSession();
  const auto term = database->BeginTerm(session, database->term(), "test");
  return simulation::SimulatedEventLog::Open(*database, session, term.value_or(0));
}

}  // namespace

template <>
absl::StatusOr<std::unique_ptr<EventLog>> OpenStore(StoreKind kind, const std::string& directory) {
  if (kind == StoreKind::kPostgres) return OpenPostgresEvents(directory);
  if (kind == StoreKind::kSimulated) return OpenSimulatedEvents(directory);
  return OpenKind<EventLog, MemoryEventLog, SqliteEventLog>(kind, directory + "/events.db");
}

template <>
absl::StatusOr<std::unique_ptr<MetricStore>> OpenStore(StoreKind kind,
                                                       const std::string& directory) {
  if (kind == StoreKind::kPostgres) return OpenPostgresMetrics(directory);
  return OpenKind<MetricStore, MemoryMetricStore, SqliteMetricStore>(kind,
                                                                     directory + "/metrics.db");
}

template <>
absl::StatusOr<std::unique_ptr<LogStore>> OpenStore(StoreKind kind, const std::string& directory) {
  if (kind == StoreKind::kPostgres) return OpenPostgresLogs(directory);
  return OpenKind<LogStore, MemoryLogStore, SqliteLogStore>(kind, directory + "/logs.db");
}

}  // namespace trainyard::controller
