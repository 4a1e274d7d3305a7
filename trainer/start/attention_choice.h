// Chooses the attention implementation for a run on this device.
#ifndef TRAINYARD_TRAINER_START_ATTENTION_CHOICE_H_
#define TRAINYARD_TRAINER_START_ATTENTION_CHOICE_H_

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// Returns the implementation that train.attention_backend names. `auto` falls back to kManual if
// this GPU's cuDNN does not support the window or the document masks. For kCudnn, also creates the
// cuDNN plans. Throws TrainerError(kBadConfig) if cuDNN has no plan and there is no fallback.
AttentionBackend ChooseAttention(const RunConfig& config);

// Returns the settings with train.attention_backend set to ChooseAttention(config).
RunConfig WithAttentionChosen(RunConfig config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_ATTENTION_CHOICE_H_
