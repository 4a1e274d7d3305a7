// Reads the facts about a PostgreSQL server from its system views, with a connection of its own.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_PROBE_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_PROBE_H_

#include <memory>
#include <string>
#include <utility>

#include "controller/store/postgres/postgres_database.h"
#include "controller/store/support/database_probe.h"

namespace trainyard::controller {

class PostgresProbe final : public DatabaseProbe {
 public:
  // `settings`: see PostgresDatabase::Connect. The first read connects.
  explicit PostgresProbe(std::string settings) : settings_(std::move(settings)) {}

  absl::StatusOr<DatabaseFacts> Read(int64_t now_ms) override;

 private:
  const std::string settings_;
  std::unique_ptr<PostgresDatabase> database_;  // Null before the first read.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_PROBE_H_
