// proto/files/remove_tree.h with absl::Status.
#ifndef TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_
#define TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard {

// Removes the file, link or directory with everything below it. Returns OK if it does not exist.
// Does not follow links or enter mounts: a mount is not removed, and the error explains how to
// remove it. If a call fails, calling again continues the removal.
absl::Status RemoveTree(const std::string& path);

// Removes the entry `name` of the open directory `parent`. Errors name the entry as `path`.
absl::Status RemoveTreeAt(int parent, const std::string& name, const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_
