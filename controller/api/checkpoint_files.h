// Checkpoint directories that the controller itself can see.
#ifndef TRAINYARD_CONTROLLER_API_CHECKPOINT_FILES_H_
#define TRAINYARD_CONTROLLER_API_CHECKPOINT_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "controller/core/deletion.h"

namespace trainyard::controller {

// Moves directories that are not visible from this machine to `kept`.
void KeepUnseen(CheckpointsOfDeletion& sorted);

// Removes a checkpoint's directory, manifest first, so that none is ever half there, and the job's
// directory around it once that is empty. OK when it is gone already. FAILED_PRECONDITION: by a
// symbolic link it lies outside `root`.
absl::Status RemoveCheckpoint(const std::string& path, const std::string& root);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CHECKPOINT_FILES_H_
