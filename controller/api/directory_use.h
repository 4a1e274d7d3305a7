// Finds jobs that use a directory, through any links and mounts.
#ifndef TRAINYARD_CONTROLLER_API_DIRECTORY_USE_H_
#define TRAINYARD_CONTROLLER_API_DIRECTORY_USE_H_

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/decide/deletion.h"
#include "proto/files/file_place.h"

namespace trainyard::controller {

// Returns true if the resolved path is the directory or lies below it. Ignores missing and
// unreadable parts of the path. May block while the path's file server does not respond.
bool LeadsInto(const std::string& path, const FileIdentity& directory);

// OK if no path of `others` leads into the directory, as decided by `leads`. FAILED_PRECONDITION
// names the job that uses it. UNAVAILABLE if the paths do not respond within `limit`: another
// user's path must not block the caller.
absl::Status CheckNoJobUses(
    const FileIdentity& directory, std::vector<DirectoryOfJob> others,
    std::chrono::milliseconds limit = std::chrono::seconds(5),
    std::function<bool(const std::string&, const FileIdentity&)> leads = LeadsInto);

// The error for a directory used by the job.
absl::Status UsedBy(const DirectoryOfJob& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_DIRECTORY_USE_H_
