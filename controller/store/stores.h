// All durable stores of a controller, opened together.
#ifndef TRAINYARD_CONTROLLER_STORE_STORES_H_
#define TRAINYARD_CONTROLLER_STORE_STORES_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "controller/store/events/event_log.h"
#include "controller/store/events/log_tail.h"
#include "controller/store/files/data_directory.h"
#include "controller/store/logs/log_store.h"
#include "controller/store/metrics/metric_store.h"
#include "controller/store/support/database_probe.h"
#include "controller/store/support/leader_notes.h"
#include "controller/store/support/leader_seat.h"
#include "controller/store/support/store_lease.h"
#include "proto/code/blob_store.h"

namespace trainyard::controller {

struct Stores {
  // Null for in-memory stores. Declared first, so that it is destroyed last and the lock is
  // released last.
  std::unique_ptr<DataDirectory> directory;
  // Null for stores in files or in memory.
  std::unique_ptr<StoreLease> lease;
  // Host and name of the PostgreSQL database. Empty for stores in files or in memory.
  std::string database;
  // The id of the cluster in the PostgreSQL database. Empty for stores in files or in memory.
  std::string cluster_id;
  // Reads the facts about the database server. Null for stores in files or in memory.
  std::unique_ptr<DatabaseProbe> probe;
  // Texts for the other controllers. Null for stores in files or in memory.
  std::unique_ptr<LeaderNotes> notes;
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

struct PostgresStoreOptions {
  // A connection string of libpq (postgres_database.h).
  std::string settings;
  // For the code of jobs and other files of this controller. Contains no databases.
  std::string data_directory;
  // The id that the cluster gets if the database is new.
  std::string new_cluster_id;
  // The term that this process leads already. 0: OpenPostgresStores begins a term, and the stores'
  // lease keeps it.
  int64_t leader_term = 0;
  // Names this process to other controllers, if leader_term is 0.
  std::string holder;
  // The release of this program, which a standby reports to the leader.
  std::string version;
  // Limit on the time to wait for the server, and for another controller to end.
  std::chrono::milliseconds wait_limit{60'000};
  // Called with the reason when a wait begins, and about every 5 s while it lasts. May be null.
  std::function<void(const std::string& reason)> on_wait;
  // Called on another thread, at most once, when the lease is lost. The process must then exit
  // without an answer to anyone. May be null if leader_term is not 0.
  std::function<void(const absl::Status& cause)> on_lost;
};

// Locks the data directory, creates or upgrades the tables of all stores in the current schema of
// the database, and opens the stores. The code of jobs stays in the data directory.
// FAILED_PRECONDITION: the schema or the data directory belongs to another cluster, another
// controller leads, a pooler is in between, another release wrote the tables, or this build has no
// PostgreSQL. UNAVAILABLE: the server did not accept connections within the limit. Other errors:
// see postgres_error.h.
absl::StatusOr<Stores> OpenPostgresStores(const PostgresStoreOptions& options);

// Opens the seat of one of several controllers on a database (leader_seat.h). Creates or upgrades
// the tables first. Uses only the first three settings, `version` and `holder`, the address
// at which the others name this controller. Errors: see OpenPostgresStores.
absl::StatusOr<std::unique_ptr<LeaderSeat>> OpenLeaderSeat(const PostgresStoreOptions& options);

// Opens the event log for a standby, whose schema OpenLeaderSeat has prepared. Uses only the
// settings. Errors: see OpenPostgresStores.
absl::StatusOr<std::unique_ptr<LogTail>> OpenLogTail(const PostgresStoreOptions& options);

// Returns in-memory stores, for simulation and tests. Their contents are lost when the process
// ends.
Stores OpenMemoryStores();

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_STORES_H_
