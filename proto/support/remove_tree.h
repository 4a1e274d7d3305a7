// proto/files/remove_tree.h with absl::Status.
#ifndef TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_
#define TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard {

// Removes the file, link or directory with everything below it. OK if it does not exist. Does not
// follow links or enter mounts: mounts stay, and the error names the remedy. A repeated call
// continues the removal.
absl::Status RemoveTree(const std::string& path);

// Removes an entry of the open directory `parent`. `path` names the entry in errors.
absl::Status RemoveTreeAt(int parent, const std::string& name, const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_
