// The notes of the leader in the table leader_note, with a connection of its own.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_LEADER_NOTES_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_LEADER_NOTES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "controller/store/postgres/postgres_database.h"
#include "controller/store/support/leader_notes.h"

namespace trainyard::controller {

class PostgresLeaderNotes final : public LeaderNotes {
 public:
  // `settings`: see PostgresDatabase::Connect. Writes belong to `term`. The first call connects.
  PostgresLeaderNotes(std::string settings, int64_t term)
      : settings_(std::move(settings)), term_(term) {}

  absl::StatusOr<std::string> Read(const std::string& name) override;
  absl::Status Write(const std::string& name, const std::string& text) override;

 private:
  absl::Status Connect();

  const std::string settings_;
  const int64_t term_;
  std::mutex mutex_;
  // Guarded by mutex_. Null before the first call.
  std::unique_ptr<PostgresDatabase> database_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_LEADER_NOTES_H_
