// Finds jobs that use a directory, including jobs whose path leads through links or mounts.
#ifndef TRAINYARD_CONTROLLER_API_DELETION_DIRECTORY_USE_H_
#define TRAINYARD_CONTROLLER_API_DELETION_DIRECTORY_USE_H_

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/decide/deletion.h"
#include "proto/files/file_place.h"

namespace trainyard::controller {

// Returns true if the path, once resolved, is the directory or lies below it. Ignores missing and
// unreadable parts of the path. May block while the path's file server does not respond.
bool LeadsInto(const std::string& path, const FileIdentity& directory);

// Returns OK if `leads` is false for the path of each job in `others`. FAILED_PRECONDITION: a job
// uses the directory; the message names the job. UNAVAILABLE: the paths could not be resolved
// within `limit`. The limit ensures that another user's path cannot block the caller.
absl::Status CheckNoJobUses(
    const FileIdentity& directory, std::vector<DirectoryOfJob> others,
    std::chrono::milliseconds limit = std::chrono::seconds(5),
    std::function<bool(const std::string&, const FileIdentity&)> leads = LeadsInto);

// Returns the error for a directory that is used by the job.
absl::Status UsedBy(const DirectoryOfJob& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_DELETION_DIRECTORY_USE_H_
