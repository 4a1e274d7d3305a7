// Settings of attention heads that follow from others in families without a key for them. Pure.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HEAD_SETTINGS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HEAD_SETTINGS_H_

#include <cstdint>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// hidden_size / num_attention_heads; 0 when that is not whole.
inline int64_t UsualHeadSize(const ModelConfig& model) {
  const bool is_whole = model.hidden_size % model.num_attention_heads == 0;
  return is_whole ? model.hidden_size / model.num_attention_heads : 0;
}

// A key head for each query head.
inline int64_t KeyHeadForEach(const ModelConfig& model) { return model.num_attention_heads; }

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HEAD_SETTINGS_H_
