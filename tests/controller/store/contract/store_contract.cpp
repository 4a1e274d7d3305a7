#include "tests/controller/store/contract/store_contract.h"

#include "controller/store/events/memory_event_log.h"
#include "controller/store/events/sqlite_event_log.h"
#include "controller/store/logs/memory_log_store.h"
#include "controller/store/logs/sqlite_log_store.h"
#include "controller/store/metrics/memory_metric_store.h"
#include "controller/store/metrics/sqlite_metric_store.h"

namespace trainyard::controller {
namespace {

template <typename Interface, typename Memory, typename Sqlite>
absl::StatusOr<std::unique_ptr<Interface>> OpenKind(StoreKind kind, const std::string& path) {
  if (kind == StoreKind::kMemory) return std::make_unique<Memory>();
  return Sqlite::Open(path);
}

}  // namespace

template <>
absl::StatusOr<std::unique_ptr<EventLog>> OpenStore(StoreKind kind, const std::string& directory) {
  if (kind == StoreKind::kPostgres) return OpenPostgresEvents(directory);
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
