#include "proto/support/remove_tree.h"

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "proto/files/remove_tree.h"
#include "proto/support/durable_file.h"

namespace trainyard {
namespace {

absl::Status Explained(const FileResult& result) {
  const absl::Status status = ToStatus(result);
  if (status.ok()) return status;
  if (result->number == EAGAIN) {
    return absl::Status(
        status.code(),
        absl::StrCat(
            status.message(), "; ", kMaxEntriesRemoved,
            " entries were removed, but more remain; a program may still be writing there"));
  }
  if (result->number != EBUSY) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; something is mounted below it (see ",
                                   "/proc/mounts) and was not removed; unmount it"));
}

}  // namespace

absl::Status RemoveTree(const std::string& path) { return Explained(RemoveEntry(path)); }

absl::Status RemoveTreeAt(int parent, const std::string& name, const std::string& path) {
  return Explained(RemoveEntry(parent, name, path));
}

}  // namespace trainyard
