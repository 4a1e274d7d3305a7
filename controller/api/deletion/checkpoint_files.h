// Checkpoint directories that are visible on the controller's machine.
//
// A job owns its directory below the checkpoint root and may replace any part of that directory
// with a link. The root itself may be a link. Below the root, no link is followed and no mount is
// entered. Every removal is relative to an open directory.
#ifndef TRAINYARD_CONTROLLER_API_DELETION_CHECKPOINT_FILES_H_
#define TRAINYARD_CONTROLLER_API_DELETION_CHECKPOINT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/decide/deletion.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Finds the paths in `removable` that cannot be removed, and moves them to `kept` with the reason:
// the path is not visible from this machine, is behind a link or a mount, or is in a directory used
// by one of `others`. Directories are compared by device and inode. Returns a description of each
// path that stays in `removable`, in the order of `removable`.
std::vector<v1::RemovableCheckpoint> InspectCheckpoints(const std::string& root,
                                                        const std::vector<DirectoryOfJob>& others,
                                                        CheckpointsOfDeletion& sorted);

// Removes a checkpoint's directory, and then the job's directory if it is empty. The manifest is
// removed first, so that a partly removed checkpoint is never valid. If the checkpoint is a link,
// removes the link but not its target. Returns OK if the checkpoint does not exist.
// FAILED_PRECONDITION: the path may not be removed, for a reason listed at InspectCheckpoints.
// UNAVAILABLE: the removal failed, but may succeed later.
absl::Status RemoveCheckpoint(const std::string& path, const std::string& root,
                              const std::vector<DirectoryOfJob>& others);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_DELETION_CHECKPOINT_FILES_H_
