// The connections of a store in one SQLite file.
#ifndef TRAINYARD_CONTROLLER_STORE_SQLITE_SQLITE_CONNECTIONS_H_
#define TRAINYARD_CONTROLLER_STORE_SQLITE_SQLITE_CONNECTIONS_H_

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "controller/store/sql/sql_connections.h"
#include "controller/store/sqlite/migrations.h"
#include "controller/store/sqlite/sqlite_database.h"

namespace trainyard::controller {

// There is one writer. Readers use their own connections and never wait for the writer.
class SqliteConnections : public SqlConnections {
 public:
  // Opens or creates the file and brings its schema up to date.
  static absl::StatusOr<std::unique_ptr<SqliteConnections>> Open(
      const std::string& path, std::span<const Migration> migrations);

  absl::StatusOr<std::unique_ptr<SqlSession>> BeginWrite() override;
  absl::StatusOr<std::unique_ptr<SqlSession>> BeginRead(ReadView view) override;
  absl::StatusOr<StoreUsage> Usage() override;
  absl::StatusOr<bool> ReturnFreeSpace() override;
  const std::string& mark_table() const override { return mark_table_; }

 private:
  explicit SqliteConnections(std::unique_ptr<SqliteDatabase> writer)
      : writer_(std::move(writer)), readers_(writer_->path()) {}

  const std::string mark_table_ = "mark";
  const std::unique_ptr<SqliteDatabase> writer_;
  SqliteReaderPool readers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQLITE_SQLITE_CONNECTIONS_H_
