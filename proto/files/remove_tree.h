// Removes directories whose contents are controlled by user programs. Uses only POSIX calls, for
// the reason given in durable_file.h.
//
// Removals do not follow symbolic links: directories are opened with O_NOFOLLOW, and entries are
// unlinked through the descriptor of their directory. Therefore a program cannot redirect a removal
// by replacing a directory with a link. Removals do not enter mounts, including bind mounts.
#ifndef TRAINYARD_PROTO_FILES_REMOVE_TREE_H_
#define TRAINYARD_PROTO_FILES_REMOVE_TREE_H_

#include <cstdint>
#include <string>

#include "proto/files/durable_file.h"

namespace trainyard {

// The maximum number of entries that one call removes or moves, because a program may keep adding
// entries.
inline constexpr int64_t kMaxEntriesRemoved = 4'000'000;

// Removes `name` from the open directory `parent`. A directory is removed with everything below it,
// even if directories in it are read-only. Needs few descriptors and little memory at any depth.
// `path` is the path in error messages. OK if the entry does not exist. EBUSY: a mount was found;
// the mount and its contents are kept. EAGAIN: `max_entries` entries were processed and more
// remain; call again to continue.
[[nodiscard]] FileResult RemoveEntry(int parent, const std::string& name, const std::string& path,
                                     int64_t max_entries = kMaxEntriesRemoved);

// Removes the entry at `path`. Follows links in all components except the last, so the owners of
// these components must be trusted.
[[nodiscard]] FileResult RemoveEntry(const std::string& path);

// Returns " (PATH is a symbolic link to TARGET)" for the first link in the path; empty if there is
// none. Callers append this note to error messages.
std::string LinkNote(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_FILES_REMOVE_TREE_H_
