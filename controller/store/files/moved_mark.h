// The file MOVED of a data directory whose jobs were moved to another database. The SQLite files
// stay, but no controller opens them.
#ifndef TRAINYARD_CONTROLLER_STORE_FILES_MOVED_MARK_H_
#define TRAINYARD_CONTROLLER_STORE_FILES_MOVED_MARK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::controller {

// Returns the database to which the jobs were moved; empty if they are here.
absl::StatusOr<std::string> ReadMovedMark(const std::string& data_directory);
absl::Status WriteMovedMark(const std::string& data_directory, const std::string& database);
absl::Status RemoveMovedMark(const std::string& data_directory);

// FAILED_PRECONDITION if the jobs were moved.
absl::Status CheckNotMoved(const std::string& data_directory);

// FAILED_PRECONDITION if a controller used the directory and its stores are in PostgreSQL. The
// error names PostgreSQL's own checks.
absl::Status CheckStoresAreFiles(const std::string& data_directory);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_FILES_MOVED_MARK_H_
