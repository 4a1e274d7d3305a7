// Checkpoint directories that the controller itself can see.
//
// The job owns its directory below the checkpoint root and may put links into it or in its place.
// The root may be a link; below it no link is followed, nothing that is mounted is entered, and
// every removal works on an open directory.
#ifndef TRAINYARD_CONTROLLER_API_CHECKPOINT_FILES_H_
#define TRAINYARD_CONTROLLER_API_CHECKPOINT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/deletion.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Moves checkpoints that cannot go to `kept`, with the reason: not visible from this machine,
// behind a link or a mount, or in a directory that one of `others` uses, which is decided on device
// and inode. Returns what lies at the paths that are left in `removable`, in their order.
std::vector<v1::RemovableCheckpoint> InspectCheckpoints(const std::string& root,
                                                        const std::vector<DirectoryOfJob>& others,
                                                        CheckpointsOfDeletion& sorted);

// Removes a checkpoint's directory, manifest first, so that none is ever half there, and the job's
// directory around it once that is empty. A link in its place goes, and its target stays. OK when
// it is gone already. FAILED_PRECONDITION: it stays for one of the reasons above. UNAVAILABLE: the
// removal failed, and may succeed later.
absl::Status RemoveCheckpoint(const std::string& path, const std::string& root,
                              const std::vector<DirectoryOfJob>& others);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CHECKPOINT_FILES_H_
