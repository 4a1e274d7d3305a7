#include "controller/store/files/store_identity.h"

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr char kEvents[] = "events.db";
// A database with telemetry or output of the jobs in the event log, and its table of streams.
struct Follower {
  const char* name;
  const char* streams;
};
constexpr std::array kFollowers = {Follower{"metrics.db", "stream"},
                                   Follower{"logs.db", "log_stream"}};

absl::StatusOr<std::string> IdentityIn(SqliteDatabase& database) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t tables,
      database.QueryInt64("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'cluster'"));
  if (tables == 0) return std::string();
  TRAINYARD_ASSIGN_OR_RETURN(SqliteQuery query, database.Query("SELECT id FROM cluster"));
  TRAINYARD_ASSIGN_OR_RETURN(const bool found, query.Next());
  return found ? std::string(query.Bytes(0)) : std::string();
}

// Returns true if metrics.db or logs.db contains data of any job. A database with such data has a
// row for a stream.
absl::StatusOr<bool> HoldsData(const std::string& path, const char* streams) {
  TRAINYARD_ASSIGN_OR_RETURN(auto database,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kReader));
  TRAINYARD_ASSIGN_OR_RETURN(
      const int64_t rows, database->QueryInt64(absl::StrCat("SELECT COUNT(*) FROM (SELECT 1 FROM ",
                                                            streams, " LIMIT 1)")));
  return rows > 0;
}

std::string NextStep(const std::string& directory) {
  return absl::StrCat(
      "put back the files that belong together, restore a backup (`trainyard server restore`), or "
      "move metrics.db and logs.db out of ",
      directory, " to continue without their data");
}

absl::Status Bind(const std::string& path, const std::string& cluster_id) {
  TRAINYARD_ASSIGN_OR_RETURN(auto database,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kWriter));
  TRAINYARD_ASSIGN_OR_RETURN(auto transaction, SqliteTransaction::BeginWrite(*database));
  TRAINYARD_RETURN_IF_ERROR(
      database->RunScript("CREATE TABLE IF NOT EXISTS cluster (id TEXT NOT NULL)"));
  TRAINYARD_RETURN_IF_ERROR(database->Run("INSERT INTO cluster VALUES (?)", cluster_id));
  return transaction.Commit();
}

}  // namespace

absl::StatusOr<std::string> ReadStoreIdentity(const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(auto database,
                             SqliteDatabase::Open(path, SqliteDatabase::Mode::kReader));
  return IdentityIn(*database);
}

absl::Status CheckStoreIdentities(const std::string& directory, bool fresh) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string events,
                             ReadStoreIdentity(absl::StrCat(directory, "/", kEvents)));
  for (const auto& [name, streams] : kFollowers) {
    const std::string path = absl::StrCat(directory, "/", name);
    TRAINYARD_ASSIGN_OR_RETURN(const std::string found, ReadStoreIdentity(path));
    TRAINYARD_ASSIGN_OR_RETURN(const bool holds_data, HoldsData(path, streams));
    if (fresh && (holds_data || !found.empty())) {
      return absl::FailedPreconditionError(
          absl::StrCat(path,
                       " belongs to an earlier event log, but events.db is missing or new. New "
                       "jobs would be numbered from 1 again and show the data of earlier jobs; ",
                       NextStep(directory)));
    }
    if (!events.empty() && !found.empty() && found != events) {
      return absl::FailedPreconditionError(absl::StrCat(path, " belongs to cluster ", found,
                                                        ", but events.db belongs to cluster ",
                                                        events, "; ", NextStep(directory)));
    }
  }
  return absl::OkStatus();
}

absl::Status BindStores(const std::string& directory, const std::string& cluster_id) {
  for (const char* name : {kEvents, kFollowers[0].name, kFollowers[1].name}) {
    const std::string path = absl::StrCat(directory, "/", name);
    TRAINYARD_ASSIGN_OR_RETURN(const std::string found, ReadStoreIdentity(path));
    if (found == cluster_id) continue;
    if (!found.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(path, " belongs to cluster ", found,
                                                        ", but the file cluster_id contains ",
                                                        cluster_id, "; ", NextStep(directory)));
    }
    const absl::Status bound = Bind(path, cluster_id);
    // If the disk is full, bind no further databases. The event log is bound first, so no other
    // database has an id while the event log has none.
    if (absl::IsResourceExhausted(bound)) return absl::OkStatus();
    TRAINYARD_RETURN_IF_ERROR(bound);
  }
  return absl::OkStatus();
}

}  // namespace trainyard::controller
