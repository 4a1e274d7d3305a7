// Removal of directories whose content is controlled by user programs. POSIX calls only, as in
// durable_file.h.
//
// Removals do not follow symbolic links. Directories are opened with O_NOFOLLOW and entries are
// unlinked through the descriptor of their directory, so a program that swaps a directory for a
// link during a removal gains nothing. Removals do not enter mounts, including bind mounts.
#ifndef TRAINYARD_PROTO_FILES_REMOVE_TREE_H_
#define TRAINYARD_PROTO_FILES_REMOVE_TREE_H_

#include <cstdint>
#include <string>

#include "proto/files/durable_file.h"

namespace trainyard {

// Limit on entries that one call removes or moves: a program may keep adding entries.
inline constexpr int64_t kMaxEntriesRemoved = 4'000'000;

// Removes `name` from the open directory `parent`: a file, a link, or a directory with everything
// below it, including read-only directories. OK if the entry does not exist. EBUSY: a mount, which
// stays with its content. EAGAIN: `max_entries` were removed and more are left; a repeated call
// continues. Needs few descriptors and little memory at any depth. `path` names the entry in
// errors.
[[nodiscard]] FileResult RemoveEntry(int parent, const std::string& name, const std::string& path,
                                     int64_t max_entries = kMaxEntriesRemoved);

// Removes the last component of the path. Follows links in the preceding components, whose owners
// must be trusted.
[[nodiscard]] FileResult RemoveEntry(const std::string& path);

// Returns " (PATH is a symbolic link to TARGET)" for the first link in the path, as a suffix of
// errors; empty if there is none.
std::string LinkNote(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_FILES_REMOVE_TREE_H_
