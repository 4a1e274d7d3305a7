// Checkpoint directories visible to the controller's machine.
//
// A job owns its directory below the checkpoint root and may replace any part of it by a link. The
// root may be a link. Below it, no link is followed, no mount is entered, and every removal works
// on an open directory.
#ifndef TRAINYARD_CONTROLLER_API_CHECKPOINT_FILES_H_
#define TRAINYARD_CONTROLLER_API_CHECKPOINT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/decide/deletion.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Moves checkpoints that cannot be removed to `kept`, with the reason: not visible from this
// machine, behind a link or a mount, or in a directory used by one of `others`. Directories are
// compared by device and inode. Returns descriptions of the remaining `removable` paths, in order.
std::vector<v1::RemovableCheckpoint> InspectCheckpoints(const std::string& root,
                                                        const std::vector<DirectoryOfJob>& others,
                                                        CheckpointsOfDeletion& sorted);

// Removes a checkpoint's directory, manifest first, so that a partly removed checkpoint is never
// valid, and then the job's directory if it is empty. If the checkpoint is a link, removes the link
// and keeps its target. OK if it does not exist. FAILED_PRECONDITION: kept for one of the reasons
// above. UNAVAILABLE: the removal failed and may succeed later.
absl::Status RemoveCheckpoint(const std::string& path, const std::string& root,
                              const std::vector<DirectoryOfJob>& others);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CHECKPOINT_FILES_H_
