// Opens a checkpoint named by the user.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_OPEN_CHECKPOINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_OPEN_CHECKPOINT_H_

#include <memory>
#include <string>

#include "trainer/checkpoint/checkpoint_reader.h"

namespace trainyard::trainer {

// Throws TrainerError kBadCheckpoint. If `directory` contains checkpoints, the message names one.
std::unique_ptr<CheckpointReader> OpenCheckpoint(const std::string& directory);

// True if the directory has a manifest, readable or not.
bool HasManifest(const std::string& directory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_OPEN_CHECKPOINT_H_
