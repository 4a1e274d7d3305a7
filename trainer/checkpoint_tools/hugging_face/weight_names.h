// Converts the tensor names in a directory to the names that the family uses.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_WEIGHT_NAMES_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_WEIGHT_NAMES_H_

#include <string>

#include "trainer/checkpoint_tools/families/imported_model.h"
#include "trainer/checkpoint_tools/hugging_face/safetensors_directory.h"

namespace trainyard::trainer {

// Adds the family's prefix to the names if the model was saved without its head. Removes tensors
// that are derived from config.json. If config.json ties the head's weight to the embedding,
// compares the bytes of both and removes the head's weight. Uses 2 MiB of memory. Throws
// TrainerError kBadCheckpoint if the two differ or a file cannot be read.
PlacedTensors WithFamilyNames(PlacedTensors tensors, const ImportedModel& model,
                              const std::string& directory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_WEIGHT_NAMES_H_
