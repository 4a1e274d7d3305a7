// The directories in which ranks work. A job may replace any of these directories with a file, a
// link or a hanging file system.
#ifndef TRAINYARD_WORKER_SPOOL_RUN_DIRECTORY_H_
#define TRAINYARD_WORKER_SPOOL_RUN_DIRECTORY_H_

#include "absl/status/status.h"
#include "proto/support/guarded_path.h"

namespace trainyard::worker {

// Prefix of the names of folders that are being removed.
inline constexpr char kRemovedPrefix[] = "removed-";

// Creates the directory and its parents below the root (0700). Returns OK if it exists. If anything
// else is at one of these paths, it is moved aside and never entered. INVALID_ARGUMENT (the job is
// at fault) if something is mounted there and cannot be moved.
absl::Status MakeRunDirectory(const GuardedPath& directory);

// Renames PATH, such as 3/1, to <root>/<kRemovedPrefix>3-1-ID with a random ID. Returns OK if PATH
// does not exist. Errors: see MakeRunDirectory.
absl::Status MoveAside(const GuardedPath& path);

// Renames the path to `name` in the root. Returns OK if the path does not exist or one of its
// parents is not a directory of the worker. Errors: see MakeRunDirectory.
absl::Status MoveToRoot(const GuardedPath& path, const std::string& name);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_RUN_DIRECTORY_H_
