// The controller's data directory, and the lock that prevents a second controller from using it.
#ifndef TRAINYARD_CONTROLLER_STORE_FILES_DATA_DIRECTORY_H_
#define TRAINYARD_CONTROLLER_STORE_FILES_DATA_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// Creates the directory (0700) if it is missing.
absl::Status MakeDataDirectory(const std::string& path);

// File with the newest mark of an event log in PostgreSQL (controller/storage/log_mark_keeper.h).
inline constexpr char kLogMarkFile[] = "log_mark";
// Folder with one file per hook. The file has the hook's position if the stores are in SQLite
// (controller/hooks/hook_positions.h).
inline constexpr char kHookFolder[] = "hooks";

// Keeps the exclusive lock on PATH/LOCK during its lifetime. The kernel releases the lock when the
// process ends, even after a crash. The file is not removed.
class DataDirectory {
 public:
  // Creates the directory (0700) if it is missing. FAILED_PRECONDITION: another process has the
  // lock. PERMISSION_DENIED, NOT_FOUND or another file error: the directory cannot be used.
  static absl::StatusOr<std::unique_ptr<DataDirectory>> Open(const std::string& path);

  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;
  ~DataDirectory();

  const std::string& path() const { return path_; }

 private:
  DataDirectory(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}

  const std::string path_;
  const int lock_fd_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_FILES_DATA_DIRECTORY_H_
