// Rules for training in fp16 and the loss scale.
#ifndef TRAINYARD_PROTO_RULES_LOSS_SCALE_RULES_H_
#define TRAINYARD_PROTO_RULES_LOSS_SCALE_RULES_H_

#include <vector>

#include "proto/contract/run_config.h"

namespace trainyard {

// A run ends after this many consecutive steps without an update. A scale of 2^32 needs 33
// overflows to fall to 1, so a longer sequence of skipped steps has another cause.
inline constexpr int64_t kMostSkippedInRow = 50;

// True if the gradients of the run are scaled, because they would be too small for fp16.
inline bool ScalesLoss(const TrainConfig& train) { return train.precision == Precision::kFp16; }

// Reports settings of the loss scale that have no effect or cannot be used, and moments in fp16.
std::vector<SettingProblem> FindLossScaleProblems(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_LOSS_SCALE_RULES_H_
