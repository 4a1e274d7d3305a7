// proto/files/remove_tree.h with absl::Status.
#ifndef TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_
#define TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard {

// Removes the file or link, or the directory with everything below it. Returns OK if nothing exists
// at the path. Does not follow links. Does not enter or remove mounts; the error explains how to
// remove a mount. After a failure, another call continues the removal.
absl::Status RemoveTree(const std::string& path);

// Removes the entry `name` of the open directory `parent`. Errors name the entry as `path`.
absl::Status RemoveTreeAt(int parent, const std::string& name, const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_
