#include "controller/store/files/moved_mark.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

std::string MovedMarkIn(const std::string& data_directory) { return data_directory + "/MOVED"; }

}  // namespace

absl::StatusOr<std::string> ReadMovedMark(const std::string& data_directory) {
  const auto text = ReadSmallFile(MovedMarkIn(data_directory));
  if (absl::IsNotFound(text.status())) return std::string();
  TRAINYARD_RETURN_IF_ERROR(text.status());
  return std::string(absl::StripAsciiWhitespace(*text));
}

absl::Status WriteMovedMark(const std::string& data_directory, const std::string& database) {
  return WriteFileAtomically(MovedMarkIn(data_directory), database + "\n");
}

absl::Status RemoveMovedMark(const std::string& data_directory) {
  std::error_code error;
  std::filesystem::remove(MovedMarkIn(data_directory), error);
  if (error) return absl::ErrnoToStatus(error.value(), "cannot remove the file MOVED");
  return SyncDirectoryOf(MovedMarkIn(data_directory));
}

absl::Status CheckNotMoved(const std::string& data_directory) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string database, ReadMovedMark(data_directory));
  if (database.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the jobs of ", data_directory, " were moved to ", database,
      ". Start the controller with store.postgres or --postgres, or move the jobs back with "
      "`trainyard server migrate --to sqlite`"));
}

absl::Status CheckStoresAreFiles(const std::string& data_directory) {
  namespace fs = std::filesystem;
  TRAINYARD_ASSIGN_OR_RETURN(const std::string moved_to, ReadMovedMark(data_directory));
  std::error_code error;
  const bool has_files = fs::exists(data_directory + "/events.db", error);
  const bool was_used = fs::exists(data_directory + "/cluster_id", error);
  if (moved_to.empty() && (has_files || !was_used)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the stores of the controller in ", data_directory,
      " are in PostgreSQL, which checks its own pages. Run pg_amcheck, and create the database "
      "cluster with data checksums (deploy/postgresql.md)"));
}

}  // namespace trainyard::controller
