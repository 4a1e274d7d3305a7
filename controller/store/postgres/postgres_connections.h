// The connections of the metric store or the log store to PostgreSQL.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_CONNECTIONS_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_CONNECTIONS_H_

#include <memory>
#include <string>
#include <utility>

#include "controller/store/postgres/postgres_pool.h"
#include "controller/store/sql/sql_connections.h"

namespace trainyard::controller {

struct PostgresStoreTables {
  std::string mark;
  std::string all;  // All tables of the store, separated by commas.
};

PostgresStoreTables MetricTablesInPostgres();
PostgresStoreTables LogTablesInPostgres();

// Each transaction that writes checks that the leader's row names `leader_term` (leader_table.h).
// ABORTED: another controller leads; nothing was written. After a restart of the server, the next
// transaction opens a new connection.
class PostgresConnections : public SqlConnections {
 public:
  // `settings`: see PostgresDatabase::Connect.
  PostgresConnections(std::string settings, int64_t leader_term, PostgresStoreTables tables)
      : settings_(settings),
        leader_term_(leader_term),
        tables_(std::move(tables)),
        readers_(std::move(settings)) {}

  absl::StatusOr<std::unique_ptr<SqlSession>> BeginWrite() override;
  absl::StatusOr<std::unique_ptr<SqlSession>> BeginRead(ReadView view) override;
  // The size of the tables with their indexes. The server's vacuum reuses free space, so free_bytes
  // is 0 and ReturnFreeSpace has nothing to do.
  absl::StatusOr<StoreUsage> Usage() override;
  absl::StatusOr<bool> ReturnFreeSpace() override { return false; }
  const std::string& mark_table() const override { return tables_.mark; }

 private:
  const std::string settings_;
  const int64_t leader_term_;
  const PostgresStoreTables tables_;
  std::unique_ptr<PostgresDatabase> writer_;  // Null before the first transaction.
  PostgresPool readers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_CONNECTIONS_H_
