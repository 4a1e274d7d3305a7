// Publishes a complete save and retires older checkpoints. Used by rank 0.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PUBLICATION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PUBLICATION_H_

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/save_steps.h"

namespace trainyard::trainer {

// Writes the manifest, renames the directory, reports the checkpoint, and then removes the
// checkpoints that retention does not keep. `entries` are the entries of all ranks. Throws
// TrainerError(kFenced) if a newer attempt has claimed the directory.
void Publish(const SaveJob& job, Entries entries, SaveSteps& steps);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PUBLICATION_H_
