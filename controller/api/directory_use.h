// Jobs that use a directory, found through all links and mounts that lead to it.
#ifndef TRAINYARD_CONTROLLER_API_DIRECTORY_USE_H_
#define TRAINYARD_CONTROLLER_API_DIRECTORY_USE_H_

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/deletion.h"
#include "proto/contract/file_place.h"

namespace trainyard::controller {

// True when the path, or a directory above it, is the directory. Parts of the path that do not
// exist or cannot be read are left out. May block as long as the file server of the path does not
// answer.
bool LeadsInto(const std::string& path, const FileIdentity& directory);

// OK when no path of `others` leads into the directory. FAILED_PRECONDITION names the job that uses
// it. UNAVAILABLE when a path does not answer within `limit`: paths of other users must not hold up
// the caller. `leads` is LeadsInto.
absl::Status CheckNoJobUses(
    const FileIdentity& directory, std::vector<DirectoryOfJob> others,
    std::chrono::milliseconds limit = std::chrono::seconds(5),
    std::function<bool(const std::string&, const FileIdentity&)> leads = LeadsInto);

// The error of a directory that the job uses.
absl::Status UsedBy(const DirectoryOfJob& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_DIRECTORY_USE_H_
