// The directories in which ranks work. Jobs may put anything in the place of one: a file, a link, a
// file system that hangs.
#ifndef TRAINYARD_WORKER_SPOOL_RUN_DIRECTORY_H_
#define TRAINYARD_WORKER_SPOOL_RUN_DIRECTORY_H_

#include "absl/status/status.h"
#include "proto/support/guarded_path.h"

namespace trainyard::worker {

// Begins the names of folders that are being removed.
inline constexpr char kRemovedPrefix[] = "removed-";

// Makes the directory and those before it below its root, 0700, and enters nothing else in their
// place: that is moved aside. OK when it exists. INVALID_ARGUMENT when something is mounted in its
// place and cannot be moved, which only a job of this node can have done.
absl::Status MakeRunDirectory(const GuardedPath& directory);

// Gives what is at the path, "3/1", whatever it is, a name in the root that begins with
// kRemovedPrefix and "3-1-"; OK when there is nothing. Errors as above.
absl::Status MoveAside(const GuardedPath& path);

// Renames the path to `name` in the root. OK if nothing is there or a parent is not a directory of
// the worker. Errors as above.
absl::Status MoveToRoot(const GuardedPath& path, const std::string& name);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_RUN_DIRECTORY_H_
