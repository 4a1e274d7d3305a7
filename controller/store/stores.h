// All durable stores of a controller, opened together.
#ifndef TRAINYARD_CONTROLLER_STORE_STORES_H_
#define TRAINYARD_CONTROLLER_STORE_STORES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "controller/store/events/event_log.h"
#include "controller/store/files/data_directory.h"
#include "controller/store/logs/log_store.h"
#include "controller/store/metrics/metric_store.h"
#include "proto/code/blob_store.h"

namespace trainyard::controller {

struct Stores {
  // Null for in-memory stores. Declared first, so that it is destroyed last and the lock is
  // released last.
  std::unique_ptr<DataDirectory> directory;
  std::unique_ptr<EventLog> events;
  std::unique_ptr<MetricStore> metrics;
  std::unique_ptr<LogStore> logs;
  // Code of jobs. Null for in-memory stores.
  std::unique_ptr<code::BlobStore> code_store;
};

// Locks the directory and opens events.db, metrics.db, logs.db and the directory code in it. If a
// file is missing, creates it; if its schema is old, upgrades it. FAILED_PRECONDITION: another
// controller uses the directory, or a newer release wrote it. DATA_LOSS: a file is damaged.
// PERMISSION_DENIED: a file cannot be opened. RESOURCE_EXHAUSTED: the disk is full.
absl::StatusOr<Stores> OpenSqliteStores(const std::string& data_directory);

// Returns in-memory stores, for simulation and tests. Their contents are lost when the process
// ends.
Stores OpenMemoryStores();

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_STORES_H_
