// Names in Hugging Face directories, shared by imports and exports.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_HUGGING_FACE_CONFIG_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_HUGGING_FACE_CONFIG_H_

namespace trainyard::trainer {

inline constexpr char kConfigName[] = "config.json";
// Longest sample the model was trained with. A key of config.json and of the trainer state of an
// imported checkpoint, because not every model has a setting for it.
inline constexpr char kMaxPositions[] = "max_position_embeddings";

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_HUGGING_FACE_CONFIG_H_
