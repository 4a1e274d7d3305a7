// The log store in one SQLite database.
#ifndef TRAINYARD_CONTROLLER_STORE_LOGS_SQLITE_LOG_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_LOGS_SQLITE_LOG_STORE_H_

#include <memory>
#include <string>

#include "controller/store/logs/sql_log_store.h"

namespace trainyard::controller {

class SqliteLogStore {
 public:
  // Opens or creates the database and brings its schema up to date.
  static absl::StatusOr<std::unique_ptr<SqlLogStore>> Open(const std::string& path);
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LOGS_SQLITE_LOG_STORE_H_
