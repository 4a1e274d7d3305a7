// Names in Hugging Face directories that imports and exports share.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_HUGGING_FACE_CONFIG_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_HUGGING_FACE_CONFIG_H_

namespace trainyard::trainer {

inline constexpr char kConfigName[] = "config.json";
// The key of the longest sample length with which the model was trained. Both config.json and the
// trainer state of an imported checkpoint contain this key, because some models have no setting for
// this length.
inline constexpr char kMaxPositions[] = "max_position_embeddings";

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_HUGGING_FACE_CONFIG_H_
