// Removal of files and directories that programs of users have filled. POSIX calls only, as in
// durable_file.h.
//
// No removal follows a symbolic link: every directory is opened without links and every entry is
// unlinked through the descriptor of its directory, so that a program that exchanges a directory
// for a link meanwhile gains nothing. No removal enters a mount, also not one of the same disk.
#ifndef TRAINYARD_PROTO_CONTRACT_REMOVE_TREE_H_
#define TRAINYARD_PROTO_CONTRACT_REMOVE_TREE_H_

#include <cstdint>
#include <string>

#include "proto/contract/durable_file.h"

namespace trainyard {

// Limit on entries that one call removes or moves: a program may add entries as fast as they go.
inline constexpr int64_t kMaxEntriesRemoved = 4'000'000;

// Removes `name` from the open directory `parent`: a file or a link itself, a directory with
// everything below it, read-only directories too. Nothing when there is no such entry. A mount
// stays, with its content, as an error EBUSY. EAGAIN: `max_entries` are gone and more are left.
// Repeating the call continues where an earlier one ended. Needs few descriptors and little memory
// at any depth. `path` names the entry in errors.
[[nodiscard]] FileResult RemoveEntry(int parent, const std::string& name, const std::string& path,
                                     int64_t max_entries = kMaxEntriesRemoved);

// The same for a path. Links are followed up to the directory that holds the last part of the path,
// so the owner of that directory must be trusted.
[[nodiscard]] FileResult RemoveEntry(const std::string& path);

// " (PATH is a symbolic link to TARGET)" for the first part of the path that is a link, to complete
// an error; empty when there is none.
std::string LinkNote(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_REMOVE_TREE_H_
