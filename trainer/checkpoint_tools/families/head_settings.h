// Derives attention head settings from other settings, for families that have no keys for the head
// settings. Pure functions.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_HEAD_SETTINGS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_HEAD_SETTINGS_H_

#include <cstdint>

#include "proto/contract/model_config.h"
#include "proto/model/model_size.h"

namespace trainyard::trainer {

// Returns hidden_size / num_attention_heads; 0 if it is not an integer.
inline int64_t WholeHeadSize(const ModelConfig& model) {
  const int64_t size = UsualHeadSize(model);
  return size * model.num_attention_heads == model.hidden_size ? size : 0;
}

// Returns the number of key heads if each query head has its own key head.
inline int64_t KeyHeadForEach(const ModelConfig& model) { return model.num_attention_heads; }

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_HEAD_SETTINGS_H_
