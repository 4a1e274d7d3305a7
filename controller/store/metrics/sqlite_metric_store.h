// The metric store in one SQLite database.
#ifndef TRAINYARD_CONTROLLER_STORE_METRICS_SQLITE_METRIC_STORE_H_
#define TRAINYARD_CONTROLLER_STORE_METRICS_SQLITE_METRIC_STORE_H_

#include <memory>
#include <string>

#include "controller/store/metrics/sql_metric_store.h"

namespace trainyard::controller {

class SqliteMetricStore {
 public:
  // Opens or creates the database and brings its schema up to date.
  static absl::StatusOr<std::unique_ptr<SqlMetricStore>> Open(const std::string& path);
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_METRICS_SQLITE_METRIC_STORE_H_
