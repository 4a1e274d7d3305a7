// The connections of one store to its database, and the database's own part in removal.
#ifndef TRAINYARD_CONTROLLER_STORE_SQL_SQL_CONNECTIONS_H_
#define TRAINYARD_CONTROLLER_STORE_SQL_SQL_CONNECTIONS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/sql/sql_database.h"
#include "controller/store/support/pruning.h"

namespace trainyard::controller {

// A connection in use: one transaction of the writer, or one reader. The destructor returns the
// connection, and rolls back unless Commit succeeded. Must not outlive the SqlConnections.
class SqlSession {
 public:
  virtual ~SqlSession() = default;

  SqlDatabase& operator*() { return database(); }
  SqlDatabase* operator->() { return &database(); }

  // If this returns OK, the changes are durable. Only for sessions of BeginWrite.
  virtual absl::Status Commit() = 0;

 private:
  virtual SqlDatabase& database() = 0;
};

enum class ReadView {
  kEachStatement,  // Every statement sees the newest data.
  kOne,            // All statements see the same state of the database.
};

class SqlConnections {
 public:
  virtual ~SqlConnections() = default;

  // Begins a transaction for writing. The caller makes sure that there is one at a time.
  virtual absl::StatusOr<std::unique_ptr<SqlSession>> BeginWrite() = 0;

  // Thread-safe.
  virtual absl::StatusOr<std::unique_ptr<SqlSession>> BeginRead(ReadView view) = 0;

  // The size of the store's tables. Thread-safe.
  virtual absl::StatusOr<StoreUsage> Usage() = 0;

  // Returns a limited amount of free space to the file system. Returns false if there was nothing
  // to do. The caller makes sure that no transaction of BeginWrite is open.
  virtual absl::StatusOr<bool> ReturnFreeSpace() = 0;

  // The table with the store's mark (mark_table.h).
  virtual const std::string& mark_table() const = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQL_SQL_CONNECTIONS_H_
