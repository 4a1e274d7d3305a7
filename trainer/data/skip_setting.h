// Reads the positions that a run skips from its environment.
#ifndef TRAINYARD_TRAINER_DATA_SKIP_SETTING_H_
#define TRAINYARD_TRAINER_DATA_SKIP_SETTING_H_

#include <string>
#include <vector>

#include "proto/samples/skip_ranges.h"

namespace trainyard::trainer {

// Returns the ranges in `text`, the value of TRAINYARD_SKIP_SAMPLES. Throws TrainerError kBadConfig
// if ReadSkipRanges finds a problem.
std::vector<SkipRange> ParseSkipRanges(const std::string& text);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_SKIP_SETTING_H_
