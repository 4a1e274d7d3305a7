// proto/contract/remove_tree.h with absl::Status.
#ifndef TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_
#define TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard {

// Removes the file, link or directory with all that is below it, read-only directories too; OK when
// there is none. Follows no link, and never enters what is mounted below the directory: that is
// left, as an error that names a reason. Repeating it continues where an earlier call ended.
absl::Status RemoveTree(const std::string& path);

// The same for an entry of the open directory `parent`; `path` names it in errors.
absl::Status RemoveTreeAt(int parent, const std::string& name, const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_
