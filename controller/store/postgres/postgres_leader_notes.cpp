#include "controller/store/postgres/postgres_leader_notes.h"

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/leader_table.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// A login waits for a write, so a slow server must fail it soon.
constexpr PostgresLimits kNoteLimits{
    .connect_ms = 2'000, .statement_ms = 2'000, .idle_transaction_ms = 2'000, .answer_ms = 2'500};

}  // namespace

absl::Status PostgresLeaderNotes::Connect() {
  if (database_ != nullptr && database_->IsUsable()) return absl::OkStatus();
  auto database = PostgresDatabase::Connect(settings_, kNoteLimits);
  if (!database.ok()) {
    // Read must return NOT_FOUND only if there is no note, and not if there is no database.
    return absl::IsNotFound(database.status()) ? absl::UnavailableError(database.status().message())
                                               : database.status();
  }
  database_ = *std::move(database);
  return absl::OkStatus();
}

absl::StatusOr<std::string> PostgresLeaderNotes::Read(const std::string& name) {
  const std::lock_guard lock(mutex_);
  TRAINYARD_RETURN_IF_ERROR(Connect());
  TRAINYARD_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      database_->Query("SELECT text FROM leader_note WHERE name = $1", name));
  if (rows.size() != 0) return std::string(rows.Bytes(0, 0));
  return absl::NotFoundError(absl::StrCat(database_->name(), ": no leader has written ", name));
}

absl::Status PostgresLeaderNotes::Write(const std::string& name, const std::string& text) {
  const std::lock_guard lock(mutex_);
  TRAINYARD_RETURN_IF_ERROR(Connect());
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, BeginLeaderWrite(term_, *database_));
  TRAINYARD_RETURN_IF_ERROR(
      database_->Run("INSERT INTO leader_note VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE SET "
                     "term = $2, text = $3",
                     name, term_, text));
  return transaction.Commit();
}

}  // namespace trainyard::controller
