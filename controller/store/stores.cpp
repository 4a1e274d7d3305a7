#include "controller/store/stores.h"

#include "controller/store/events/memory_event_log.h"
#include "controller/store/events/sqlite_event_log.h"
#include "controller/store/files/backup.h"
#include "controller/store/files/moved_mark.h"
#include "controller/store/logs/memory_log_store.h"
#include "controller/store/logs/sqlite_log_store.h"
#include "controller/store/metrics/memory_metric_store.h"
#include "controller/store/metrics/sqlite_metric_store.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {

absl::StatusOr<Stores> OpenSqliteStores(const std::string& data_directory) {
  Stores stores;
  TRAINYARD_ASSIGN_OR_RETURN(stores.directory, DataDirectory::Open(data_directory));
  const std::string& path = stores.directory->path();
  TRAINYARD_RETURN_IF_ERROR(CheckNotHalfRestored(path));
  TRAINYARD_RETURN_IF_ERROR(CheckNotMoved(path));
  TRAINYARD_ASSIGN_OR_RETURN(stores.events, SqliteEventLog::Open(path + "/events.db"));
  TRAINYARD_ASSIGN_OR_RETURN(stores.metrics, SqliteMetricStore::Open(path + "/metrics.db"));
  TRAINYARD_ASSIGN_OR_RETURN(stores.logs, SqliteLogStore::Open(path + "/logs.db"));
  TRAINYARD_ASSIGN_OR_RETURN(stores.code_store, code::BlobStore::Open({.directory = path + "/code"},
                                                                      code::BlobStore::NowMs()));
  return stores;
}

Stores OpenMemoryStores() {
  return Stores{.directory = nullptr,
                .events = std::make_unique<MemoryEventLog>(),
                .metrics = std::make_unique<MemoryMetricStore>(),
                .logs = std::make_unique<MemoryLogStore>(),
                .code_store = nullptr};
}

}  // namespace trainyard::controller
