// Removes directories that programs of users have filled.
#ifndef TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_
#define TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard {

// Removes the file or directory with all that is below it, read-only directories too; OK when there
// is none. Follows no link, and never enters what is mounted below the directory: that is left, as
// an error that names a reason. Needs few descriptors and little memory at any depth. Repeating it
// goes on where an earlier call ended.
absl::Status RemoveTree(const std::string& path);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_REMOVE_TREE_H_
