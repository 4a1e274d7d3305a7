// The event log in PostgreSQL, as a standby reads it.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_LOG_TAIL_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_LOG_TAIL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "controller/store/events/log_tail.h"
#include "controller/store/postgres/postgres_database.h"

namespace trainyard::controller {

class PostgresLogTail final : public LogTail {
 public:
  // `settings`: see PostgresDatabase::Connect. The schema must be up to date (MigrateEvents).
  static absl::StatusOr<std::unique_ptr<PostgresLogTail>> Open(const std::string& settings);

  absl::StatusOr<Batch> ReadAfter(uint64_t after) override;
  bool IsSameSession() const override { return database_->IsUsable(); }

 private:
  explicit PostgresLogTail(std::unique_ptr<PostgresDatabase> database)
      : database_(std::move(database)) {}
  // Adds the events after batch.last_sequence. Returns false if the next one was removed.
  absl::StatusOr<bool> AddEvents(Batch& batch);

  const std::unique_ptr<PostgresDatabase> database_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_LOG_TAIL_H_
