// Converts the tensor names of a directory to those of the family.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_WEIGHT_NAMES_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_WEIGHT_NAMES_H_

#include <string>

#include "trainer/checkpoint_tools/families/imported_model.h"
#include "trainer/checkpoint_tools/hugging_face/safetensors_directory.h"

namespace trainyard::trainer {

// Adds the family's prefix if the model was saved without its head. Removes tensors derived from
// config.json. Removes the head's weight if config.json ties it to the embedding, after comparing
// its bytes with the embedding's. Memory: 2 MiB. Throws TrainerError kBadCheckpoint if they differ
// or a file cannot be read.
PlacedTensors WithFamilyNames(PlacedTensors tensors, const ImportedModel& model,
                              const std::string& directory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_WEIGHT_NAMES_H_
