// Removes directories whose contents user programs control. Uses only POSIX calls, for the reason
// given in durable_file.h.
//
// Removals do not follow symbolic links. Directories are opened with O_NOFOLLOW, and entries are
// unlinked through the descriptor of their directory. A program therefore gains nothing if it
// replaces a directory by a link during a removal. Removals do not enter mounts, including bind
// mounts.
#ifndef TRAINYARD_PROTO_FILES_REMOVE_TREE_H_
#define TRAINYARD_PROTO_FILES_REMOVE_TREE_H_

#include <cstdint>
#include <string>

#include "proto/files/durable_file.h"

namespace trainyard {

// The maximum number of entries that one call removes or moves. It is limited because a program may
// keep adding entries.
inline constexpr int64_t kMaxEntriesRemoved = 4'000'000;

// Removes `name` from the open directory `parent`. It may be a file, a link, or a directory, which
// is removed with everything below it, even if directories are read-only. Returns OK if the entry
// does not exist. EBUSY: there is a mount, which is kept with its contents. EAGAIN: `max_entries`
// were removed and more are left; call again to continue. Needs few descriptors and little memory
// at any depth. `path` is used in error messages.
[[nodiscard]] FileResult RemoveEntry(int parent, const std::string& name, const std::string& path,
                                     int64_t max_entries = kMaxEntriesRemoved);

// Removes the last component of the path. Follows links in the other components, so their owners
// must be trusted.
[[nodiscard]] FileResult RemoveEntry(const std::string& path);

// Returns " (PATH is a symbolic link to TARGET)" for the first link in the path, to be appended to
// errors; empty if there is no link.
std::string LinkNote(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_FILES_REMOVE_TREE_H_
