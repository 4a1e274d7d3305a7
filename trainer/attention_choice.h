// The code that computes a run's attention on this device.
#ifndef TRAINYARD_TRAINER_ATTENTION_CHOICE_H_
#define TRAINYARD_TRAINER_ATTENTION_CHOICE_H_

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// train.attention_backend, with `auto` resolved: a window, or documents, of which this GPU's
// cuDNN knows nothing are computed by kManual. Makes cuDNN's plans where it is taken. Throws
// TrainerError(kBadConfig) when cuDNN has no plan and no other code may take its place.
AttentionBackend ChooseAttention(const RunConfig& config);

// The same settings with that choice.
RunConfig WithAttentionChosen(RunConfig config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_ATTENTION_CHOICE_H_
