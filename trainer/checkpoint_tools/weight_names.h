// Brings the tensors of a directory to the names that the family's tensors have.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_WEIGHT_NAMES_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_WEIGHT_NAMES_H_

#include <string>

#include "trainer/checkpoint_tools/model_family.h"
#include "trainer/checkpoint_tools/safetensors_directory.h"

namespace trainyard::trainer {

// Adds the family's prefix where the model was saved without its head, removes tensors that follow
// from config.json, and removes the head's weight where config.json ties it to the embedding, once
// its bytes are compared with the embedding's. Memory: 2 MiB. Throws TrainerError kBadCheckpoint
// when they differ, or when a file cannot be read.
PlacedTensors WithFamilyNames(PlacedTensors tensors, const ImportedModel& model,
                              const std::string& directory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_WEIGHT_NAMES_H_
