// SplitRule::kDeepseek3 as operations on bit masks.
#ifndef TRAINYARD_DATA_SPLIT_DEEPSEEK_WINDOW_H_
#define TRAINYARD_DATA_SPLIT_DEEPSEEK_WINDOW_H_

#include <cstdint>

#include "data/split/window_classes.h"

namespace trainyard::data {

// Returns the starts of pieces. The window must begin at one.
uint64_t DeepseekStarts(const WindowClasses& classes, const OtherClasses& others);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_DEEPSEEK_WINDOW_H_
