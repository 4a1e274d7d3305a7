// Opens a checkpoint that the user has named.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_OPEN_CHECKPOINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_OPEN_CHECKPOINT_H_

#include <memory>
#include <string>

#include "trainer/checkpoint/checkpoint_reader.h"

namespace trainyard::trainer {

// Opens the checkpoint in `directory`. Throws TrainerError kBadCheckpoint. If `directory` is not a
// checkpoint but contains checkpoints, the message names one of them.
std::unique_ptr<CheckpointReader> OpenCheckpoint(const std::string& directory);

// True if the directory contains a manifest, even an unreadable one.
bool HasManifest(const std::string& directory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_OPEN_CHECKPOINT_H_
