// Publishes a complete save and retires older checkpoints, on rank 0.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_PUBLICATION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_PUBLICATION_H_

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/save_steps.h"

namespace trainyard::trainer {

// entries: those of all ranks. Writes the manifest, renames the directory, reports the checkpoint,
// then removes the checkpoints that retention drops. Throws TrainerError(kFenced) if a newer
// attempt has claimed the directory.
void Publish(const SaveJob& job, Entries entries, SaveSteps& steps);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_PUBLICATION_H_
