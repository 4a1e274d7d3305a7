// Chooses the attention implementation for a run on this device.
#ifndef TRAINYARD_TRAINER_START_ATTENTION_CHOICE_H_
#define TRAINYARD_TRAINER_START_ATTENTION_CHOICE_H_

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// Resolves train.attention_backend. `auto` falls back to kManual if this GPU's cuDNN does not
// support the window or document masks. Creates the cuDNN plans when cuDNN is chosen. Throws
// TrainerError(kBadConfig) if cuDNN has no plan and no fallback applies.
AttentionBackend ChooseAttention(const RunConfig& config);

// The given settings with train.attention_backend set to ChooseAttention(config).
RunConfig WithAttentionChosen(RunConfig config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_ATTENTION_CHOICE_H_
